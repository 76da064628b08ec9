/** A queue of orders. */
public class Orders {
    public final int size;

    /** Adds one. */
    public void add(Order order) {
        if (order.isOpen( {
            queue.add(order);
        }
    }

    public Order take(int count) {
        return queue.poll()
    }

    public int left() {
        return 0;
    }
}
