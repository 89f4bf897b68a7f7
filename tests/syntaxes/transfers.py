# SYNTAX TEST "source.python" "methods that move tensors and modules"

x = x.to(device, non_blocking=True)
#     ^^ support.function.transfer.device-lens.python
#     ^^ meta.function-call.python
#        ^^^^^^ meta.function-call.arguments.python
#                ^^^^^^^^^^^^ variable.parameter.function-call.python

model = build(images.cuda(), labels.cpu())
#                    ^^^^ support.function.transfer.device-lens.python
#                                   ^^^ support.function.transfer.device-lens.python

torch.cuda.synchronize()
#     ^^^^ - support.function.transfer.device-lens.python

to(x)
# <- - support.function.transfer.device-lens.python

handler = x.to
#           ^^ - support.function.transfer.device-lens.python

x.token(3)
# ^^ - support.function.transfer.device-lens.python

# x.to(device)
#   ^^ - support.function.transfer.device-lens.python
