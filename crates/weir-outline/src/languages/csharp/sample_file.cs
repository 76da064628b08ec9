/// <summary>Where the program begins.</summary>
namespace Stock.Tool;

using System;

public static class Program
{
    /// <summary>Runs.</summary>
    public static int Main(string[] args) => 0;
#if DEBUG
    public static void Trace(string text) { }
#endif
#region more
    internal enum Mode { Fast, Slow }
#endregion
}
