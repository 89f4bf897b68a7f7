"""Functions that fetch files from the net: nothing is known of what they give."""

from __future__ import annotations

from device_lens.models.call import Call, Value
from device_lens.models.registry import FUNCTIONS

FETCHING = (
    "gdown.download",
    "huggingface_hub.hf_hub_download",
    "huggingface_hub.snapshot_download",
    "requests.get",
    "torch.hub.download_url_to_file",
    "urllib.request.urlopen",
    "urllib.request.urlretrieve",
    "wget.download",
)


def _fetched(call: Call) -> Value:
    return call.unknown()


def register_all() -> None:
    for name in FETCHING:
        FUNCTIONS[name] = _fetched
