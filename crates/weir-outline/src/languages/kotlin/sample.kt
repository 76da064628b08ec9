/*
 * Copyright the authors.
 */
@file:JvmName("Trains")

package net.example.trains

import kotlin.math.max
import kotlinx.coroutines.flow.Flow

/** The most carriages of a train. */
const val MOST = 12
private val secret = "x"
internal var counter: Int = 0

typealias Handler<T> = suspend (T) -> Unit

/**
 * A train. It has carriages.
 *
 * @property name its name
 */
@Serializable
@JvmInline
data class Train<T : Load> @Inject constructor(
    val name: String,
    private var speed: Int = 0,
    internal val line: Line?,
    plain: Int,
) : Vehicle(name), Comparable<Train<T>> by other where T : Any {
    /** How many. */
    val count: Int
        get() = 1
    var driver: String = "nobody"
        private set
    private val carriages = mutableListOf<T>()
    lateinit var route: Route
    val lazyName by lazy { "long" }

    init {
        check(speed >= 0)
    }

    constructor(name: String) : this(name, 0, null, 1)

    /** Adds a carriage. */
    @Throws(IllegalStateException::class)
    fun add(load: T, vararg more: T, at: Int = carriages.size): Train<T> {
        fun local() {}
        return this
    }

    override fun compareTo(other: Train<T>) = 0
    protected open fun check() {}
    internal inline fun <reified R> find(crossinline how: (T) -> R): R? = null
    private fun hidden() {}
    operator fun get(at: Int): T = carriages[at]

    companion object Factory {
        const val SPEED = 100

        @JvmStatic
        fun of(name: String): Train<Nothing> = TODO()
    }

    inner class Carriage(val number: Int)

    private class Ledger {
        fun note() {}
    }
}

sealed interface Signal {
    val colour: String

    object Stop : Signal {
        override val colour = "red"
    }

    data object Go : Signal

    fun show(): String
}

/** Which way. */
enum class Direction(val degrees: Int) {
    /** Up. */
    NORTH(0),
    SOUTH(180) {
        override fun turn() = NORTH
    };

    open fun turn(): Direction = SOUTH
}

@Target(AnnotationTarget.CLASS)
annotation class Named(val value: String)

fun interface Visitor {
    fun visit(train: Train<*>)
}

object Registry : Base() {
    val trains = mutableMapOf<String, Train<*>>()
    fun clear() = trains.clear()
}

/** Runs a train. */
suspend fun <T : Load> Train<T>.run(block: suspend T.() -> Unit): Flow<T> where T : Comparable<T> {
    TODO()
}

val Train<*>.isLong: Boolean
    get() = count > 10

private fun helper() = 1

internal expect class Platform
