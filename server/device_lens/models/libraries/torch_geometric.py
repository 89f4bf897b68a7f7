"""torch_geometric: graphs whose `to` moves all their tensors and gives the graph back."""

from __future__ import annotations

from device_lens.domain.device import CPU, DeviceTree
from device_lens.domain.heap import Instance
from device_lens.domain.join import join_all
from device_lens.domain.values import NONE, External, Tensor, TupleValue, Unknown
from device_lens.models import wording
from device_lens.models.call import Call, Model, Value, is_none, tensor_of
from device_lens.models.libraries.opaque import OpaqueModule, register, tensor_output
from device_lens.models.registry import ALIASES, ATTRIBUTES, BASES, FUNCTIONS
from device_lens.models.torch.conversions import to_target
from device_lens.models.torch.copying import deep_copy, mark_fresh
from device_lens.models.torch.module_parts import listing
from device_lens.models.torch.nn_layer import agreeing, operands_of
from device_lens.models.torch.target import CURRENT_CUDA, present
from device_lens.models.words import words

DATA = "torch_geometric.data.Data"
BATCH = "torch_geometric.data.Batch"
LOADER = "torch_geometric.loader.DataLoader"
DATASET = "torch_geometric.data.Dataset"
_INDICES = words("edge_index batch y train_mask val_mask test_mask ptr")
_FIELDS = words("x edge_attr edge_weight pos") + _INDICES
_CONVOLUTIONS = words(
    """GCNConv GATConv GATv2Conv SAGEConv GINConv GINEConv ChebConv GraphConv TransformerConv
    TAGConv SGConv ARMAConv EdgeConv DynamicEdgeConv NNConv PNAConv APPNP MessagePassing
    RGCNConv HeteroConv HGTConv GatedGraphConv LEConv ClusterGCNConv"""
)
_POOLS = words("global_mean_pool global_add_pool global_max_pool global_sort_pool")
_LOADERS = words("DataLoader NeighborLoader ClusterLoader GraphSAINTRandomWalkSampler")


def _graph(name: str) -> Model:
    def model(call: Call) -> Value:
        made = Instance(External(name), call.site.node)
        for position, field in enumerate(words("x edge_index edge_attr y pos")):
            value = call.get(position, field)
            if value is not None:
                made.fields[field] = value
        made.fields.update(call.kwargs)
        made.fields["<device>"] = CPU
        return made

    return model


def _field(name: str) -> Model:
    """A tensor of a graph of which only the device is known."""

    def model(call: Call) -> Value:
        fields = call.receiver.fields if isinstance(call.receiver, Instance) else {}
        dtype = "int64" if name in ("edge_index", "batch", "ptr") else None
        return Tensor(fields.get("<device>", CPU), dtype, zero_dim=False)

    return model


def _move(call: Call, device: DeviceTree | None) -> Value:
    graph = call.receiver
    if not isinstance(graph, Instance) or device is None:
        return graph
    for key, value in list(graph.fields.items()):
        tensor = tensor_of(value)
        if tensor is not None and key != "<device>":
            trail = call.trail("moved", f"{wording.moved(device)} with its graph", tensor.trail)
            call.write(graph.fields, key, tensor.with_(device=device, trail=trail))
    call.write(graph.fields, "<device>", device)
    return graph


def _to(call: Call) -> Value:
    return _move(call, to_target(call).device)


def _cuda(call: Call) -> Value:
    return _move(call, present(call.services, CURRENT_CUDA))


def _cpu(call: Call) -> Value:
    return _move(call, CPU)


def _loader(call: Call) -> Value:
    made = Instance(External(LOADER), call.site.node)
    made.fields["dataset"] = call.get(0, "dataset", NONE)
    return made


def _batches(call: Call) -> Value:
    """Graphs of the data set, joined into one, in host memory."""
    dataset = call.receiver.fields.get("dataset", NONE)
    return listing(call, [], mark_fresh(_joined(call, dataset)))


def _joined(call: Call, graphs: Value) -> Value:
    """Graphs joined into one, which is where they are."""
    items, rest = call.services.iterate(graphs)
    known = [item for item in (*items, rest) if item is not None]
    sample = join_all(known) if known else Unknown()
    made = Instance(External(BATCH), call.site.node)
    made.fields["<device>"] = CPU
    if isinstance(sample, Instance):
        tensors = {key: tensor_of(value) for key, value in sample.fields.items()}
        for key, tensor in tensors.items():
            if tensor is not None:
                made.fields[key] = tensor.with_(shape=None)
        made.fields["<device>"] = sample.fields.get("<device>", CPU)
    return made


def _from_list(call: Call) -> Value:
    """`Batch.from_data_list(graphs)`."""
    graphs = call.get(0, "data_list")
    return call.unknown() if graphs is None else _joined(call, graphs)


def _dataset(call: Call) -> Value:
    return Instance(External(DATASET), call.site.node)


def _dataset_item(call: Call) -> Value:
    made = Instance(External(DATA), call.site.node)
    made.fields["<device>"] = CPU
    return made


def _pooled(call: Call) -> Value:
    """A readout: beside its operands."""
    return agreeing(call, call.name, operands_of(call.args, call.kwargs, {})).with_(shape=None)


def _edges(call: Call) -> Value:
    """What a function makes of edges and of what they have: where they are."""
    return _pooled(call).with_(dtype=None)


def _edges_and_values(call: Call) -> Value:
    """The edges, and what they have if that is given."""
    values = call.get(1, "edge_attr", NONE)
    found = _edges(call)
    return TupleValue((found, NONE if is_none(values) else found))


def _edges_or_both(call: Call) -> Value:
    """The edges alone where what they have is not given."""
    return _edges(call) if call.get(1, "edge_attr") is None else Unknown("edges")


def _both(call: Call) -> Value:
    found = _edges(call)
    return TupleValue((found, found.with_(dtype="bool")))


_OF_EDGES: dict[str, Model] = {
    "degree softmax scatter to_dense_adj": _edges,
    "add_self_loops remove_self_loops add_remaining_self_loops": _edges_and_values,
    "to_undirected coalesce": _edges_or_both,
    "dropout_edge to_dense_batch": _both,
}
"""Functions of `torch_geometric.utils` by what they give."""


def register_all() -> None:
    for name in (DATA, BATCH):
        FUNCTIONS[name] = _graph(name)
        for field in _FIELDS:
            ATTRIBUTES[f"{name}.{field}"] = _field(field)
        FUNCTIONS[f"{name}.to"], FUNCTIONS[f"{name}.cuda"] = _to, _cuda
        FUNCTIONS[f"{name}.cpu"] = _cpu
        for method in words("contiguous coalesce pin_memory"):
            FUNCTIONS[f"{name}.{method}"] = lambda call: call.receiver
        FUNCTIONS[f"{name}.clone"] = lambda call: deep_copy(call.receiver, {})
    BASES[BATCH] = (DATA,)
    for convolution in _CONVOLUTIONS:
        register(OpaqueModule(f"torch_geometric.nn.{convolution}", tensor_output))
        ALIASES[f"torch_geometric.nn.conv.{convolution}"] = f"torch_geometric.nn.{convolution}"
    for pool in _POOLS:
        FUNCTIONS[f"torch_geometric.nn.{pool}"] = _pooled
    for name in _LOADERS:
        FUNCTIONS[f"torch_geometric.loader.{name}"] = _loader
    for names, model in _OF_EDGES.items():
        for name in words(names):
            FUNCTIONS[f"torch_geometric.utils.{name}"] = model
    FUNCTIONS[f"{BATCH}.from_data_list"] = _from_list
    ALIASES["torch_geometric.data.DataLoader"] = LOADER
    FUNCTIONS[f"{LOADER}.__iter__"] = _batches
    FUNCTIONS[f"{LOADER}.__len__"] = lambda call: Unknown("the number of batches")
    for name in words("Planetoid TUDataset QM9 Reddit Amazon Coauthor KarateClub PPI ZINC"):
        FUNCTIONS[f"torch_geometric.datasets.{name}"] = _dataset
    FUNCTIONS[f"{DATASET}.__getitem__"] = _dataset_item
