/*
 * Copyright the authors.
 */
package net.example.garden

import scala.collection.mutable
import scala.util.{Failure, Success}

/** A plant. It grows.
  *
  * @tparam A what it bears
  */
@SerialVersionUID(1L)
sealed abstract class Plant[+A <: Fruit: Ordering](val name: String, protected var height: Int = 0, age: Int)(implicit
    soil: Soil
) extends Living[A]
    with Serializable {
  type Seed <: AnyRef
  val leaves: List[Leaf] = Nil
  var water = 0
  private[garden] val roots = 3
  private val secret = "x"
  lazy val bloom: Option[A] = None

  /** Grows by some centimetres. */
  @throws[IllegalStateException]("if it is dead")
  def grow(by: Int = 1)(implicit light: Light): Either[String, Plant[A]] = {
    def local(): Unit = ()
    Right(this)
  }

  def bear: A
  protected def wither(): Unit = ()
  private def hidden(x: Int) = x
  def this(name: String) = this(name, 0, 1)(null)
  def +(other: Plant[_]): Garden = ???
  override def toString: String = name
}

object Plant {
  val Most: Int = 100
  implicit val ordering: Ordering[Plant[_]] = null

  def apply[A <: Fruit](name: String): Plant[A] = ???

  implicit class Rich(plant: Plant[_]) {
    def isTall: Boolean = true
  }

  private object Cache
}

final case class Tree(override val name: String, rings: Int) extends Plant[Apple](name, 1, 2)(null)

case object Nothing_ extends Plant[Fruit]("", 0, 0)(null)

/** What can be watered. */
trait Watered[F[_]] { self: Plant[_] =>
  def water(litres: Double): F[Unit]
  val most: Double
}

enum Colour(val rgb: Int):
  case Red extends Colour(0xff0000)
  case Green, Blue
  case Mix(mix: Int) extends Colour(mix)

  def dark: Boolean = false

/** Counts plants. */
def count(plants: Seq[Plant[_]])(using garden: Garden): Int =
  plants.size

given listOrd[T](using ord: Ord[T]): Ord[List[T]] with
  def compare(x: List[T], y: List[T]): Int = 0

extension (plant: Plant[Apple])
  def cut(at: Int): Plant[Apple] = plant
  def whole: Boolean = true

type Handler = Plant[Apple] => Unit

opaque type Metres = Double

package object tools {
  def dig(depth: Int): Unit = ()
}

private class Hidden {
  def seen: Int = 1
}

given intOrd: Ord[Int] = Ord.by(identity)

given Ordering[Plant[Apple]] = Ordering.by(_.name)
