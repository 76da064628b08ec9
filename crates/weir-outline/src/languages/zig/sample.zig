//! Reads archives. An archive has members.
//! Nothing is kept in memory.

const std = @import("std");
const Allocator = std.mem.Allocator;
pub const Header = @import("header.zig").Header;

/// The largest member.
pub const largest: usize = 1 << 20;
const magic = "AR01";
pub var counter: u32 = 0;
threadlocal var depth: u8 = 0;
pub extern "c" fn write(fd: c_int, bytes: [*]const u8, count: usize) isize;

pub const Error = error{
    /// Too short.
    Truncated,
    BadMagic,
} || Allocator.Error;

/// A member of an archive.
pub const Member = struct {
    /// Its name.
    name: []const u8,
    size: u64 = 0,
    flags: packed struct { hidden: bool, last: bool } = .{},

    const Self = @This();
    pub const empty = Member{ .name = "" };

    /// Makes a member.
    pub fn init(
        allocator: Allocator, // for the name
        name: []const u8,
    ) Allocator.Error!Self {
        _ = allocator;
        return .{ .name = name };
    }

    pub inline fn isEmpty(self: *const Self) bool {
        return self.size == 0;
    }

    fn hidden(self: Self) void {
        _ = self;
    }

    pub const Iterator = struct {
        at: usize,

        pub fn next(self: *Iterator) ?Member {
            _ = self;
            return null;
        }
    };
};

pub const Kind = enum(u8) {
    file,
    /// With members.
    folder = 4,
    _,

    pub fn isFile(kind: Kind) bool {
        return kind == .file;
    }
};

pub const Value = union(enum) {
    none,
    number: i64,
    text: []const u8,
};

const Private = opaque {
    pub fn seen() void {}
};

/// A list of things.
pub fn List(comptime T: type) type {
    return struct {
        items: []T,

        pub fn push(self: *@This(), item: T) !void {
            _ = self;
            _ = item;
        }
    };
}

pub fn read(reader: anytype, comptime options: struct { strict: bool = false }) Error!Member {
    _ = reader;
    _ = options;
    return error.Truncated;
}

export fn archive_open(path: [*:0]const u8) callconv(.C) ?*anyopaque {
    _ = path;
    return null;
}

fn helper() void {}

pub usingnamespace @import("more.zig");

test "reads a member" {
    try std.testing.expect(true);
}

comptime {
    _ = Member;
}
