"""Binary frames: a magic byte, kind, length, payload, checksum."""
import struct

MAGIC = 0xA7
KINDS = {1: "position", 2: "battery", 3: "log", 4: "ack"}


class FrameError(Exception):
    pass


def checksum(data):
    value = 0
    for byte in data:
        value = (value * 31 + byte) & 0xFF
    return value


def encode(kind, payload):
    head = struct.pack(">BBB", MAGIC, kind, len(payload))
    return head + payload + bytes([checksum(payload)])


def decode(data):
    magic, kind, length = struct.unpack(">BBB", data[:3])
    if magic != MAGIC:
        raise FrameError(f"bad magic 0x{magic:02x}")
    payload = data[3:3 + length]
    if checksum(data[:3 + length]) != data[3 + length]:
        raise FrameError(f"checksum of a {KINDS[kind]} frame does not match")
    return KINDS[kind], payload


def position(payload):
    lat, lon, height = struct.unpack("<iih", payload)
    return lat / 1e7, lon / 1e7, height
