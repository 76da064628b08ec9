// Copyright the authors.

import Foundation
@testable import Core

/// The most birds in a flock.
public let most = 400
let inside = 1
private var secret: [String: Int] = [:]

public typealias Handler<T> = (T) throws -> Void

/// A bird. It can fly.
///
/// - Note: some cannot.
@available(iOS 15, *)
@MainActor
public final class Bird<Food: Edible>: Animal, Codable where Food: Hashable {
    /// Its name.
    public let name: String
    public private(set) var age: Int = 0
    var weight, height: Double
    fileprivate static let shared = Bird()
    public static var count: Int { 1 }
    @Published public var isFlying = false
    public lazy var nest: Nest = {
        Nest()
    }()
    public var song: String {
        get { "la" }
        set { print(newValue) }
    }

    /// Makes a bird.
    public init(name: String, age: Int = 0) throws {
        self.name = name
    }

    public required convenience init?(coder: NSCoder) {
        return nil
    }

    deinit {
        print("gone")
    }

    /// Flies to a place.
    @discardableResult
    public func fly<P: Place>(to place: P, by way: Way = .air, _ more: Int...) async throws -> P? where P: Equatable {
        func local() {}
        return nil
    }

    open func sing() -> some View { EmptyView() }
    internal func eat(_ food: Food) {}
    private func hide() {}
    public static func == (left: Bird, right: Bird) -> Bool { true }
    public subscript(index: Int) -> Character { name.first! }

    public enum Colour: String, CaseIterable {
        /// Like a raven.
        case black = "b"
        case white, grey
        case mixed(Int, with: String)

        public var isDark: Bool { true }
    }

    struct Egg {
        var size: Int
    }
}

public protocol Flying: AnyObject {
    associatedtype Wing: Equatable
    var wings: [Wing] { get }
    static var most: Int { get set }
    func flap(times: Int) -> Bool
    init(wings: [Wing])
}

extension Flying where Wing == Int {
    public func rest() {}
    func sleep() {}
}

public extension Bird {
    func glide() {}
}

extension Bird: CustomStringConvertible {
    public var description: String { name }
}

public struct Nest: Sendable {
    public var eggs = 0
    let tree: Tree
    public mutating func lay() { eggs += 1 }
}

public actor Flock {
    public func join(_ bird: Bird<Seed>) async {}
    nonisolated public let id: Int
}

indirect enum Tree {
    case leaf
    case node(Tree, Tree)
}

infix operator +++: AdditionPrecedence

/// Counts birds.
public func count(of birds: [Any], where keep: (Any) -> Bool) rethrows -> Int {
    0
}

#if os(Linux)
public func onLinux() {}
#endif

func main() {}

@attached(member) public macro Counted(_ most: Int)
