"""Checkpoints as Python reads and writes them, beside what the core wrote (the one kept with the fuzz seeds)."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch

from leeway import checkpoint, plain_state
from leeway.errors import InvalidArgument, NotFound

KEPT = Path(__file__).resolve().parents[1] / "fuzz/corpus/checkpoint-00000012"


def leeway(*words):
    return subprocess.run([Path(os.environ["LEEWAY_BUILD"]) / "leeway", "checkpoint", *words], capture_output=True, text=True)


@pytest.fixture
def copy(tmp_path):
    return Path(shutil.copytree(KEPT, tmp_path / KEPT.name))


def test_export_gives_every_table_in_its_shape(tmp_path):
    assert checkpoint.main(["export", str(KEPT), str(tmp_path / "out.pt")]) == 0
    state = torch.load(tmp_path / "out.pt")
    assert {name: tuple(tensor.shape) for name, tensor in state.items()} == {"layer.0.weight": (4, 2), "layer.1.weight": (3,)}
    # As `leeway checkpoint diff` says of the same files.
    assert state["layer.0.weight"].norm().item() == pytest.approx(0.7955287, rel=1e-6)
    assert state["layer.1.weight"].norm().item() == pytest.approx(0.3097292, rel=1e-6)


def test_a_folder_of_checkpoints_means_the_newest_whole_one(tmp_path, capsys):
    whole = tmp_path / "all" / "checkpoint-00000012"
    shutil.copytree(KEPT, whole)
    shutil.copytree(KEPT, tmp_path / "all" / "checkpoint-00000003")
    (tmp_path / "all" / "checkpoint-00000013").mkdir()
    assert checkpoint.Checkpoint(tmp_path / "all").path == whole
    assert checkpoint.main(["export", str(tmp_path / "all"), str(tmp_path / "out.pt")]) == 0
    assert str(whole) in capsys.readouterr().out
    with pytest.raises(NotFound, match="no checkpoint in it is whole"):
        checkpoint.Checkpoint(tmp_path)


def test_a_full_disk_is_an_error_of_export(capsys):
    assert checkpoint.main(["export", str(KEPT), "/dev/full"]) == 6
    assert "No space left on device" in capsys.readouterr().err


def test_export_wants_the_name_of_a_file(tmp_path, capsys):
    assert checkpoint.main(["export", str(KEPT), str(tmp_path)]) == InvalidArgument.exit_code
    assert f"{tmp_path}: is a folder, wanted the name of a file, such as {tmp_path / 'model.pt'}" in capsys.readouterr().err
    assert checkpoint.main(["export", str(KEPT), str(tmp_path / "no/out.pt")]) == NotFound.exit_code
    assert f"there is no folder {tmp_path / 'no'}" in capsys.readouterr().err


def test_import_is_a_good_checkpoint_with_those_values(tmp_path):
    state = {name: tensor + 1 for name, tensor in checkpoint.export_state(KEPT).items()}
    torch.save(state, tmp_path / "state.pt")
    assert checkpoint.main(["import", str(tmp_path / "state.pt"), str(tmp_path / "all"), "--like", str(KEPT)]) == 0
    made = tmp_path / "all" / "checkpoint-00000001"
    again = checkpoint.export_state(made)
    assert all(torch.equal(again[name], state[name]) for name in state)
    verified = leeway("verify", made)
    assert verified.returncode == 0, verified.stderr
    for table in checkpoint.Checkpoint(made).tables.values():
        for block in table["blocks"]:
            record = checkpoint.Checkpoint(made).record(block)
            assert record.steps == 0 and record.slots == 2
    checkpoint.import_state(state, tmp_path / "all", made)
    assert leeway("verify", tmp_path / "all").stdout.count(": good: ") == 2


def test_import_wants_the_tables_and_their_shapes(tmp_path):
    state = checkpoint.export_state(KEPT)
    with pytest.raises(InvalidArgument, match="layer.1.weight"):
        checkpoint.import_state({"layer.0.weight": state["layer.0.weight"]}, tmp_path, KEPT)
    with pytest.raises(InvalidArgument, match=r"got \[2, 4\]"):
        checkpoint.import_state({**state, "layer.0.weight": torch.zeros(2, 4)}, tmp_path, KEPT)
    with pytest.raises(InvalidArgument, match="no such table"):
        checkpoint.import_state({**state, "more": torch.zeros(2)}, tmp_path, KEPT)
    assert not list(tmp_path.iterdir())


def test_every_flipped_byte_is_found_or_not_read(copy):
    wanted = checkpoint.export_state(copy)
    found = 0
    for name in ("shard-000.lwc", "shard-001.lwc", "manifest.json"):
        good = (copy / name).read_bytes()
        for at in range(0, len(good), 7):
            (copy / name).write_bytes(good[:at] + bytes([good[at] ^ 16]) + good[at + 1:])
            try:
                state = checkpoint.export_state(copy)
            except InvalidArgument:
                found += 1
            else:
                assert all(torch.equal(state[table], wanted[table]) for table in wanted)
        (copy / name).write_bytes(good)
    assert found > 400


def test_what_is_not_there_is_named(copy):
    with pytest.raises(NotFound, match="manifest.json"):
        checkpoint.Checkpoint(copy / "none")
    with pytest.raises(NotFound, match="known: layer.0.weight, layer.1.weight"):
        checkpoint.Checkpoint(copy).values("layer.9")
    (copy / "shard-001.lwc").unlink()
    with pytest.raises(NotFound, match="shard-001.lwc"):
        checkpoint.export_state(copy)
    assert np.all(np.isfinite(checkpoint.Checkpoint(copy).values("layer.1.weight")))


def with_names(path, renamed, other_names):
    """Gives tables of a checkpoint other names, and its rank the second names of tied parameters."""
    manifest = checkpoint.read_manifest(path / checkpoint.MANIFEST)
    for table in manifest["tables"]:
        table["name"] = renamed.get(table["name"], table["name"])
    source, rank = checkpoint.Checkpoint(path), manifest["ranks"][0]
    source.rank_state = lambda _: plain_state.encode({"own": {"torch": {"buffers": {}, "other_names": other_names}}})
    os.unlink(path / rank["file"])
    checkpoint._write_rank_file(source, manifest, rank, {}, path / rank["file"])
    del manifest["checksum"]
    members = json.dumps(manifest, indent=2).encode()[:-len("\n}")] + b",\n"
    (path / checkpoint.MANIFEST).write_bytes(checkpoint.seal(members))


def test_export_leaves_out_what_leeway_made_for_itself(copy):
    with_names(copy, {"layer.1.weight": "push_pull/loss"}, {})
    assert list(checkpoint.export_state(copy)) == ["layer.0.weight"]


def test_tied_parameters_are_exported_and_imported_under_all_their_names(copy, tmp_path):
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.ModuleList([torch.nn.Linear(2, 4, bias=False), torch.nn.Embedding(1, 1)])
            self.layer[1].weight = torch.nn.Parameter(torch.zeros(3))
            self.decoder = torch.nn.Linear(2, 4, bias=False)
            self.decoder.weight = self.layer[0].weight

    with_names(copy, {}, {"decoder.weight": "layer.0.weight"})
    state = checkpoint.export_state(copy)
    model = Model()
    model.load_state_dict(state, strict=True)
    assert torch.equal(model.decoder.weight, state["layer.0.weight"])
    checkpoint.import_state(model.state_dict(), tmp_path / "all", copy)
    with pytest.raises(InvalidArgument, match="the two are one parameter"):
        checkpoint.import_state({**state, "decoder.weight": state["decoder.weight"] + 1}, tmp_path / "all", copy)


def test_an_export_has_the_buffers_that_the_job_would_end_with(monkeypatch):
    states = [{"buffer_modes": {"mean": "mean", "same": "mean", "chief": "chief", "count": "mean"},
               "buffers": {"mean": torch.tensor([1.0 + rank]), "same": torch.tensor([0.1]), "chief": torch.tensor([1.0 + rank]),
                           "count": torch.tensor([5 + rank]), "old": torch.tensor([1.0 + rank])}} for rank in range(3)]
    source = checkpoint.Checkpoint(KEPT)
    source.manifest = {"ranks": [0, 1, 2]}
    monkeypatch.setattr(source, "_torch_state", lambda rank: states[rank])
    common = source.common_buffers()
    assert {name: tensor.item() for name, tensor in common.items()} == {
        "mean": 2.0, "same": torch.tensor(0.1).item(), "chief": 1.0, "count": 5, "old": 1.0}
