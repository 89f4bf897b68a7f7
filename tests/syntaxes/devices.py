# SYNTAX TEST "source.python" "device strings where a device belongs, and nowhere else"

x = x.to("cuda:0", non_blocking=True)
#         ^^^^ string.quoted.single.python constant.language.device.device-lens.python
#             ^ punctuation.separator.device.device-lens.python
#              ^ constant.numeric.device-index.device-lens.python
#        ^ punctuation.definition.string.begin.python
#               ^ punctuation.definition.string.end.python
#                  ^^^^^^^^^^^^ variable.parameter.function-call.python

device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
#                      ^^^^ constant.language.device.device-lens.python
#                                                               ^^^ constant.language.device.device-lens.python

y = torch.zeros(3, device="mps")
#                          ^^^ constant.language.device.device-lens.python
#                  ^^^^^^ variable.parameter.function-call.python

state = torch.load(path, map_location="cpu")
#                                      ^^^ constant.language.device.device-lens.python

if x.device.type == "meta":
#                    ^^^^ constant.language.device.device-lens.python
    pass

device = "cuda"
#         ^^^^ constant.language.device.device-lens.python

names = {"cpu": 4, "cuda": 8}
#         ^^^ - constant.language.device.device-lens.python
#                   ^^^^ - constant.language.device.device-lens.python

print("cpu")
#      ^^^ - constant.language.device.device-lens.python

text = "x.to('cuda')"
#             ^^^^ - constant.language.device.device-lens.python

x = x.to("cudagraph")
#         ^^^^ - constant.language.device.device-lens.python
