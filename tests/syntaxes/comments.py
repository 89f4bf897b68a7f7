# SYNTAX TEST "source.python" "comments for Device Lens"

x.to(device)  # device-lens: ignore[discarded-transfer, transfer-in-loop]
#               ^^^^^^^^^^^ comment.line.number-sign.python keyword.other.device-lens.python
#                            ^^^^^^ keyword.control.suppression.device-lens.python
#                                  ^ punctuation.definition.rules.begin.device-lens.python
#                                   ^^^^^^^^^^^^^^^^^^ entity.name.rule.device-lens.python
#                                                     ^ punctuation.separator.rules.device-lens.python
#                                                       ^^^^^^^^^^^^^^^^ entity.name.rule.device-lens.python
#                                                                       ^ punctuation.definition.rules.end.device-lens.python

x.to(device)  # device-lens: ignore because it is only warmed up
#                            ^^^^^^ keyword.control.suppression.device-lens.python
#                                   ^^^^^^^ - keyword.control.suppression.device-lens.python

x = 1  # device-lens: ignore-file
#                     ^^^^^^^^^^^ keyword.control.suppression.device-lens.python

x = 1  # device-lens: ignored
#                     ^^^^^^ - keyword.control.suppression.device-lens.python

x = load()  # device-lens: shape (B, 3, 224)
#                          ^^^^^ keyword.control.shape.device-lens.python
#                                 ^ variable.other.dimension.device-lens.python
#                                    ^ constant.numeric.dimension.device-lens.python

x = 1  # see device-lens: ignore
#                         ^^^^^^ - keyword.control.suppression.device-lens.python
