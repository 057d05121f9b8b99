"""Checks that the entries of an export have the root of its head: check_export.py DIRECTORY."""

import base64
import hashlib
import pathlib
import sys

export = pathlib.Path(sys.argv[1])


def leaf(entry):
    return hashlib.sha256(b"\0" + entry).digest()


def node(left, right):
    return hashlib.sha256(b"\1" + left + right).digest()


def tile_path(index, width):
    name, index = f"{index % 1000:03}", index // 1000
    while index:
        name, index = f"x{index % 1000:03}/{name}", index // 1000
    return export / "tile/entries" / (name if width == 256 else f"{name}.p/{width}")


def tree_root(leaves):
    if len(leaves) == 1:
        return leaves[0]
    split = 1 << (len(leaves) - 1).bit_length() - 1
    return node(tree_root(leaves[:split]), tree_root(leaves[split:]))


size, root = (export / "checkpoint").read_text().split("\n")[1:3]
leaves = []
for tile in range(-(-int(size) // 256)):
    data = tile_path(tile, min(256, int(size) - 256 * tile)).read_bytes()
    while data:
        length = int.from_bytes(data[:2], "big")
        leaves.append(leaf(data[2 : 2 + length]))
        data = data[2 + length :]
if len(leaves) != int(size) or base64.b64encode(tree_root(leaves)).decode() != root:
    sys.exit("the entries do not have the root of the head")
print(f"{size} entries have the root of the head")
