/// A stack.
public struct Stack<T> {
    public var items: [T] = []

    public mutating func push(_ item: T) {
        items.append(item
    }

    public mutating func pop() -> T? {
        items.popLast()
    }
}

public func empty() -> Stack<Int> { Stack() }
