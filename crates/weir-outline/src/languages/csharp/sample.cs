// Copyright (c) the authors. Licensed under MIT.

using System;
using System.Collections.Generic;

[assembly: InternalsVisibleTo("Stock.Tests")]

namespace Stock.Orders
{
    /// <summary>
    /// Takes orders and keeps them. An order is never lost.
    /// </summary>
    /// <typeparam name="T">what is ordered</typeparam>
    [Serializable]
    public abstract partial class OrderBook<T> : BookBase, IOrderBook<T>, IDisposable
        where T : class, new()
    {
        /// <summary>The most orders.</summary>
        public const int Most = 1000;
        private readonly List<T> items = new(), spare;
        internal static readonly string Name = "book";
        protected int count;

        public event EventHandler<OrderArgs>? Changed;

        /// <summary>How many there are.</summary>
        public int Count { get; private set; } = 0;
        public string Title => $"Book of {Name}";
        public required string Owner { get; init; }
        public T this[int index]
        {
            get { return items[index]; }
            set { items[index] = value; }
        }

        /// <summary>Makes a book.</summary>
        public OrderBook([NotNull] string owner, int size = 16) : base(owner)
        {
            Owner = owner;
        }

        static OrderBook() { }
        ~OrderBook() { }

        /// <summary>Adds an order.</summary>
        /// <param name="order">the order</param>
        [Obsolete("use AddAsync")]
        public void Add(T order, params object[] more)
        {
            void Local() { }
            items.Add(order);
        }

        public async Task<bool> AddAsync<K>(K order, CancellationToken token = default)
            where K : struct, IComparable<K>
            => await Task.FromResult(true);

        protected internal abstract void Close(ref int code, out string reason);
        internal void Clear() { }
        private void Recount() => count = items.Count;
        void Hidden() { }
        public static OrderBook<T> operator +(OrderBook<T> left, T right) => left;
        public static implicit operator bool(OrderBook<T> book) => true;
        void IDisposable.Dispose() { }

        public enum State : byte
        {
            /// <summary>Taken.</summary>
            Open = 1,
            Closed,
        }

        private class Row
        {
            public int Number;
        }
    }

    public interface IOrderBook<out T> : IEnumerable<T>
    {
        int Count { get; }
        void Add(T order);
        event EventHandler Closed;
    }

    public record Line(string Article, int Count = 1) : IComparable<Line>;

    public readonly record struct Price(decimal Amount)
    {
        public Price Twice() => new(Amount * 2);
    }

    public struct Size
    {
        public int Width, Height;
    }

    public delegate void OrderHandler<in T>(object sender, T order);

    internal static class Extensions
    {
        public static bool IsEmpty<T>(this OrderBook<T> book) where T : class, new() => book.Count == 0;
    }

    class Unmarked { }
}
