"""Checkpoints from Python: reads one with numpy, and turns them into torch state_dicts and back.

    python -m leeway.checkpoint export CHECKPOINT out.pt
    python -m leeway.checkpoint export CHECKPOINT out.safetensors
    python -m leeway.checkpoint import state.pt FOLDER --like CHECKPOINT

docs/checkpoint-format.md has every byte of the files. Each read checks the checksums of its data first; `leeway checkpoint verify`
checks all files.
"""

import argparse
import errno
import json
import os
import re
import struct
import sys
from pathlib import Path

import numpy as np
import xxhash

from leeway import plain_state
from leeway.errors import InvalidArgument, LeewayError, NotFound, ResourceExhausted

MANIFEST_FORMAT, SHARD_FORMAT, RANK_FORMAT = 3, 2, 1
OWN = re.compile(r"(broadcast|buffers)\.\d+|(push_pull|relay)/.*")  # tables that leeway.torch made for itself
MANIFEST = "manifest.json"
FOLDER = re.compile(r"checkpoint-(\d{8,})")
RECORD_HEAD = struct.Struct("<IIQQ")  # magic, body bytes, payload bytes, checksum
RECORD_MAGIC, FOOTER_MAGIC, FILE_MAGIC, RANK_MAGIC = 0x3242574C, 0x5446574C, b"LWYSHARD", b"LWYSRANK"
# magic, format, rank, checkpoint, iteration, bytes of the state, incarnation, bytes of the job's name
RANK_HEAD = struct.Struct("<8sIIQqQII")
# The front of a body: block, table, offset, elements, term; version, steps, number of slots.
BODY_FRONT = struct.Struct("<IIQQIQQI")
# The bytes of an entry of each list that follows, in this order (v_train, highest_sent, untouched and taken come first).
PROGRESS_BYTES = 21
LIST_ENTRY_BYTES = {"lives": 26, "ended_firsts": 8, "ended_lasts": 8, "ledger": 20}
SUM_BYTES, CONTRIBUTION_BYTES = 69, 20


def checksum(data):
    return xxhash.xxh3_64_intdigest(data)


class Record:
    """One block: its place in the table, its values (None before it has any), and the rest of its state as raw bytes."""

    def __init__(self, data, where):
        if len(data) < RECORD_HEAD.size:
            raise InvalidArgument(f"{where}: got {len(data)} bytes, wanted a record")
        magic, body_bytes, payload_bytes, self.checksum = RECORD_HEAD.unpack_from(data)
        if magic != RECORD_MAGIC or RECORD_HEAD.size + body_bytes + payload_bytes != len(data):
            raise InvalidArgument(f"{where}: is no record of {len(data)} bytes")
        hashed = xxhash.xxh3_64(data[:16])
        hashed.update(data[RECORD_HEAD.size:])
        if hashed.intdigest() != self.checksum:
            raise InvalidArgument(f"{where}: got checksum {hashed.intdigest():016x}, wanted {self.checksum:016x}")
        self.body = bytes(data[RECORD_HEAD.size:RECORD_HEAD.size + body_bytes])
        (self.block, self.table, self.offset, self.elements, self.term, self.version, self.steps,
         self.slots) = BODY_FRONT.unpack_from(self.body)
        payload = np.frombuffer(data, "<f4", offset=RECORD_HEAD.size + body_bytes)
        self.values = payload[:self.elements] if self.version else None

    def ends(self):
        """Returns where the open sums begin in the body, and where they end and the model's memory begins."""
        at = BODY_FRONT.size + PROGRESS_BYTES
        for entry_bytes in LIST_ENTRY_BYTES.values():
            at += 4 + entry_bytes * self._count(at)
        begin = at
        at += 4
        for _ in range(self._count(begin)):
            at += SUM_BYTES + 4 + CONTRIBUTION_BYTES * self._count(at + SUM_BYTES)
        return begin, at

    def _count(self, at):
        return struct.unpack_from("<I", self.body, at)[0]

    def with_values(self, values):
        """Returns the bytes of this record with other values, the optimizer as before its first step, and no open sums."""
        begin, end = self.ends()
        memory = self.body[end:end + 4 + self._count(end)]
        front = BODY_FRONT.pack(self.block, self.table, self.offset, self.elements, self.term, max(self.version, 1), 0,
                                self.slots)
        body = front + self.body[BODY_FRONT.size:begin] + struct.pack("<I", 0) + memory
        body += bytes(-len(body) % 4)
        payload = np.ascontiguousarray(values, "<f4").tobytes() + bytes(4 * self.slots * self.elements)
        head = struct.pack("<IIQ", RECORD_MAGIC, len(body), len(payload))
        return head + struct.pack("<Q", checksum(head + body + payload)) + body + payload


class Checkpoint:
    """One checkpoint: `manifest` as a dict, and the values of its tables. A folder of checkpoints means the newest whole one."""

    def __init__(self, path):
        self.path = newest_in(Path(path))
        self.manifest = read_manifest(self.path / MANIFEST)
        self.tables = {table["name"]: table for table in self.manifest["tables"]}

    def record(self, block):
        """Reads the Record of one entry of a table's "blocks"."""
        path = self.path / self.manifest["files"][block["file"]]["name"]
        where = f"{path}: block {block['block']} at offset {block['record_offset']}"
        try:
            with open(path, "rb") as file:
                file.seek(block["record_offset"])
                data = file.read(block["record_bytes"])
        except FileNotFoundError:
            raise NotFound(f"{path}: no such file") from None
        if len(data) != block["record_bytes"]:
            raise InvalidArgument(f"{where}: got {len(data)} bytes, wanted {block['record_bytes']}")
        record = Record(data, where)
        if f"{record.checksum:016x}" != block["checksum"] or record.block != block["block"]:
            raise InvalidArgument(f"{where}: got block {record.block} with checksum {record.checksum:016x}, wanted "
                                  f"{block['checksum']}: it is of another checkpoint")
        return record

    def values(self, name):
        """Returns the values of a table, in its shape; zeros where a block has no values yet."""
        if name not in self.tables:
            raise NotFound(f"{self.path}: has no table {name!r}; known: {', '.join(self.tables)}")
        table = self.tables[name]
        flat = np.zeros(int(np.prod(table["shape"], dtype=np.int64)), np.float32)
        for block in table["blocks"]:
            record = self.record(block)
            if record.values is not None:
                flat[block["offset"]:block["offset"] + block["elements"]] = record.values
        return flat.reshape(table["shape"])

    def rank_state(self, rank):
        """Reads the state that a rank gave, as bytes. `rank` is its entry in the manifest's "ranks"."""
        path = self.path / rank["file"]
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise NotFound(f"{path}: no such file") from None
        if f"{checksum(data):016x}" != rank["checksum"] or len(data) != rank["bytes"]:
            raise InvalidArgument(f"{path}: its checksum does not fit: it is cut, damaged or of another checkpoint")
        state_bytes = RANK_HEAD.unpack_from(data)[5]
        return data[len(data) - 8 - state_bytes:len(data) - 8]

    def buffers(self, rank):
        """Returns the buffers in the state of a rank, as tensors by name; empty if its client was not leeway.torch."""
        return self._torch_state(rank).get("buffers", {})

    def common_buffers(self):
        """Returns the buffers as broadcast_parameters(buffers=...) says: the mean over ranks, or those of the lowest rank."""
        states = [self._torch_state(rank) for rank in self.manifest["ranks"]]
        if not states:
            return {}
        modes = states[0].get("buffer_modes", {})
        common = dict(states[0].get("buffers", {}))
        for name, tensor in common.items():
            all_ranks = [state["buffers"][name] for state in states if name in state.get("buffers", {})]
            if modes.get(name) == "mean" and tensor.is_floating_point() and any(not tensor.equal(other) for other in all_ranks):
                common[name] = (sum(other.double() for other in all_ranks) / len(all_ranks)).to(tensor.dtype)
        return common

    def other_names(self):
        """Returns the second names of tied parameters -> the names of their tables, as the lowest rank gave them."""
        ranks = self.manifest["ranks"]
        return self._torch_state(ranks[0]).get("other_names", {}) if ranks else {}

    def replicas(self):
        """Returns the parameters that ranks step by themselves (apply="relay"), as tensors by the names of their tables. The
        servers have gradients instead. Raises if no rank has given them."""
        names = [name for name, table in self.tables.items() if table["apply"].partition(":")[0] == "relay" and not OWN.fullmatch(name)]
        if not names:
            return {}
        for rank in self.manifest["ranks"]:
            found = self._own_state(rank).get("relay", {}).get("tables", {})
            if all(name in found for name in names):
                return {name: found[name] for name in names}
        raise NotFound(f"{self.path}: the parameters of {names[0]!r} are in no state of a rank (apply=\"relay\": the servers have "
                       "gradients of it, and ranks the parameters); take another checkpoint")

    def _torch_state(self, rank):
        return self._own_state(rank).get("torch", {})

    def _own_state(self, rank):
        state = self.rank_state(rank)
        return plain_state.decode(state).get("own", {}) if plain_state.is_encoded(state) else {}


def newest_in(path):
    """Returns the newest whole checkpoint in a folder of checkpoints, or `path` itself if it is a checkpoint."""
    if (path / MANIFEST).exists() or not path.is_dir():
        return path
    whole = [folder for folder in path.iterdir() if FOLDER.fullmatch(folder.name) and (folder / MANIFEST).exists()]
    if not whole:
        raise NotFound(f"{path}: is no checkpoint (it has no {MANIFEST}), and no checkpoint in it is whole")
    return max(whole, key=lambda folder: int(FOLDER.fullmatch(folder.name)[1]))


def read_manifest(path):
    try:
        text = Path(path).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound(f"{path}: no such file; a folder without it is no checkpoint") from None
    tail = len(seal(b""))
    if len(text) < tail or seal(text[:-tail]) != text:
        raise InvalidArgument(f"{path}: its checksum does not fit: it is cut or damaged")
    manifest = json.loads(text)
    if manifest.get("format") != MANIFEST_FORMAT:
        raise InvalidArgument(f"{path}: format: got {manifest.get('format')}, wanted {MANIFEST_FORMAT}")
    return manifest


def seal(members):
    """Returns the text of a manifest: its members, then the checksum as its last key."""
    return members + b'  "checksum": "%016x"\n}\n' % checksum(members)


def export_state(checkpoint):
    """Returns a torch state_dict of a checkpoint: table name -> tensor, and the buffers (BatchNorm statistics) as the job would
    end with them. Tied parameters have all their names. It leaves out tables that leeway.torch made for itself."""
    import torch
    source = Checkpoint(checkpoint)
    replicas = source.replicas()
    state = {name: torch.from_numpy(source.values(name)) if name not in replicas else replicas[name]
             for name in source.tables if not OWN.fullmatch(name)}
    state.update((name, state[table]) for name, table in source.other_names().items() if table in state)
    return {**source.common_buffers(), **state}


def import_state(state, folder, like):
    """Writes a checkpoint into `folder`: the checkpoint `like` with the values of a state_dict. Returns its path.

    The optimizer's state is zero, and no sums are open. Ranks keep their states, with the buffers of the state_dict.
    """
    source = Checkpoint(like)
    if replicas := source.replicas():
        raise InvalidArgument(f"{source.path}: {next(iter(replicas))!r} is stepped by the ranks (apply=\"relay\"), whose states an import "
                              "does not change; load the state_dict in the script, before the first forward pass")
    values = {name: _fitting(name, state, source.tables[name]) if not OWN.fullmatch(name) else
              source.values(name).reshape(-1) for name in source.tables}
    buffers = {name for rank in source.manifest["ranks"] for name in source.buffers(rank)}
    tied = source.other_names()
    for name, table in tied.items():
        if name in state and not np.array_equal(_fitting(name, state, source.tables[table]), values[table]):
            raise InvalidArgument(f"{name!r}: got other values than {table!r} has, wanted the same: the two are one parameter")
    if extra := [name for name in state if name not in source.tables and name not in buffers and name not in tied]:
        raise InvalidArgument(f"{extra[0]!r}: {source.path} has no such table; known: {', '.join(source.tables)}")
    folder = Path(folder)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = [FOLDER.fullmatch(entry.name) for entry in folder.iterdir()]
    manifest = json.loads(json.dumps(source.manifest))
    manifest["checkpoint"] = 1 + max((int(match[1]) for match in found if match), default=0)
    path = folder / f"checkpoint-{manifest['checkpoint']:08}"
    path.mkdir(mode=0o700)
    for index, file in enumerate(manifest["files"]):
        _write_shard_file(source, manifest, index, values, path / file["name"])
    for rank in manifest["ranks"]:
        _write_rank_file(source, manifest, rank, {name: state[name] for name in buffers if name in state}, path / rank["file"])
    del manifest["checksum"]
    members = json.dumps(manifest, indent=2).encode()[:-len("\n}")] + b",\n"
    _write(path / f"{MANIFEST}.tmp", seal(members))
    os.rename(path / f"{MANIFEST}.tmp", path / MANIFEST)
    _sync_folder(path)
    _sync_folder(folder)
    return path


def _fitting(name, state, table):
    if name not in state:
        raise InvalidArgument(f"table {name!r}: is not in the state_dict; there: {', '.join(state)}")
    value = np.asarray(state[name].detach().cpu() if hasattr(state[name], "detach") else state[name])
    if list(value.shape) != table["shape"] or value.dtype != np.float32:
        raise InvalidArgument(f"table {name!r}: got {list(value.shape)} of {value.dtype}, wanted {table['shape']} of float32")
    return value.reshape(-1)


def _write_shard_file(source, manifest, index, values, path):
    """Writes the file `index` of the manifest, and updates the manifest's entries of it."""
    old = (source.path / manifest["files"][index]["name"]).read_bytes()[:16]
    if old[:8] != FILE_MAGIC:
        raise InvalidArgument(f"{source.path / manifest['files'][index]['name']}: is no shard file")
    shard = struct.unpack_from("<I", old, 12)[0]
    job = manifest["job"]["name"].encode()
    header = FILE_MAGIC + struct.pack("<IIQI", SHARD_FORMAT, shard, manifest["checkpoint"], len(job)) + job
    header += bytes(-len(job) % 4)
    header += struct.pack("<Q", checksum(header))
    pieces, hashed, at = [header], xxhash.xxh3_64(header), len(header)
    here = [(table, block) for table in manifest["tables"] for block in table["blocks"] if block["file"] == index]
    for table, block in sorted(here, key=lambda entry: entry[1]["record_offset"]):
        record = source.record(block)
        if record.values is None:
            raise InvalidArgument(f"table {table['name']!r}: block {block['block']} has no values in {source.path}, so what its "
                                  "optimizer keeps is not known")
        data = record.with_values(values[table["name"]][block["offset"]:block["offset"] + block["elements"]])
        block["record_offset"], block["record_bytes"] = at, len(data)
        block["checksum"] = f"{RECORD_HEAD.unpack_from(data)[3]:016x}"
        hashed.update(data[:RECORD_HEAD.size])
        pieces.append(data)
        at += len(data)
    footer = struct.pack("<IIQ", FOOTER_MAGIC, 0, len(here))
    hashed.update(footer)
    last = struct.pack("<Q", hashed.intdigest())
    hashed.update(last)
    _write(path, b"".join([*pieces, footer, last]))
    manifest["files"][index].update(bytes=at + len(footer) + len(last), checksum=f"{hashed.intdigest():016x}")


def _write_rank_file(source, manifest, rank, buffers, path):
    """Writes the state of a rank with other buffers, and updates its entry in the manifest."""
    state = source.rank_state(rank)
    if buffers:
        plain = plain_state.decode(state)
        plain["own"]["torch"]["buffers"].update(buffers)
        state = plain_state.encode(plain)
    job = manifest["job"]["name"].encode()
    data = RANK_HEAD.pack(RANK_MAGIC, RANK_FORMAT, rank["rank"], manifest["checkpoint"], rank["iteration"], len(state),
                          rank["incarnation"], len(job)) + job + bytes(-len(job) % 8) + state
    data += struct.pack("<Q", checksum(data))
    _write(path, data)
    rank.update(bytes=len(data), checksum=f"{checksum(data):016x}")


def _write(path, data):
    # Makes a new file, through no link, that only its owner can read, as the program does.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(path):
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _check_out(out):
    """torch.save would say of a folder only that it cannot be opened."""
    if out.is_dir():
        raise InvalidArgument(f"{out}: is a folder, wanted the name of a file, such as {out / 'model.pt'}")
    if not out.parent.is_dir():
        raise NotFound(f"{out}: there is no folder {out.parent}")


class _Disk:
    """A file for torch.save, which ends the process if a write fails: keeps the error for later."""

    def __init__(self, file):
        self.file, self.error = file, None

    def write(self, data):
        try:
            if self.error is None:
                self.file.write(data)
        except OSError as error:
            self.error = error
        return len(data)

    def flush(self):
        if self.error is not None:
            raise self.error
        self.file.flush()


def _is_safetensors(path):
    return str(path).endswith(".safetensors")


def main(args=None):
    parser = argparse.ArgumentParser(prog="python -m leeway.checkpoint", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("export", help="write the values as a torch state_dict or a safetensors file")
    command.add_argument("checkpoint", help="a checkpoint, or a folder of checkpoints: its newest whole one")
    command.add_argument("out", help="the file to write: as torch.save does, or OUT.safetensors")
    command = commands.add_parser("import", help="write a checkpoint with the values of such a file")
    command.add_argument("state", help="a file of torch.save, table name -> tensor, or a .safetensors file")
    command.add_argument("folder", help="the folder of checkpoints that gets a new one")
    command.add_argument("--like", required=True, metavar="CHECKPOINT", help="all but the values is taken from this one")
    options = parser.parse_args(args)
    import torch
    from leeway import safetensors
    try:
        if options.command == "export":
            _check_out(Path(options.out))
            source = newest_in(Path(options.checkpoint))
            state = export_state(source)
            if _is_safetensors(options.out):
                safetensors.write(options.out, state)
            else:
                with open(options.out, "wb", buffering=0) as file:
                    torch.save(state, _Disk(file))
            print(f"{options.out}: {len(state)} tables of {source}", flush=True)
        else:
            state = (safetensors.read(options.state) if _is_safetensors(options.state) else
                     torch.load(options.state, map_location="cpu", weights_only=True))
            print(import_state(state, options.folder, options.like), flush=True)
    except LeewayError as error:
        print(f"leeway.checkpoint: {error.message}", file=sys.stderr)
        return error.exit_code
    except OSError as error:
        print(f"leeway.checkpoint: {options.command}: {error}", file=sys.stderr)
        return ResourceExhausted("").exit_code if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
