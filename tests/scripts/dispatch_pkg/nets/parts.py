def parameters_of(network):
    return sum(p.numel() for p in network.parameters())
