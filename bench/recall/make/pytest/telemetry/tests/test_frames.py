import struct
import pytest
from telemetry.frames import FrameError, checksum, decode, encode, position


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
@pytest.mark.parametrize("size", [0, 1, 17, 200, 255, 256])
def test_round_trip(kind, size):
    payload = bytes(n % 251 for n in range(size))
    assert decode(encode(kind, payload))[1] == payload


@pytest.mark.parametrize("byte", range(256))
def test_checksum_of_one_byte(byte):
    assert checksum(bytes([byte])) == byte


def test_bad_magic():
    with pytest.raises(FrameError, match="bad magic 0x00"):
        decode(b"\0\1\0\0")


def test_truncated_frame_is_refused():
    with pytest.raises(FrameError, match="truncated"):
        decode(b"\xa7\1")


def test_position_is_big_endian():
    payload = struct.pack(">iih", 513402110, 123776300, 112)
    assert position(payload) == (51.340211, 12.37763, 112)
