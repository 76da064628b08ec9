import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.*;

/** A server with worker pools; two of its threads block each other. Stopped in a thread dump. */
public class PoolServer {
    static class Account { final int id; long balance; Account(int id) { this.id = id; } }

    static class Transfers {
        void move(Account from, Account to, CountDownLatch ready) throws Exception {
            synchronized (from) {
                ready.countDown();
                ready.await();
                synchronized (to) { to.balance += 1; }
            }
        }
    }

    static class Cache {
        final ReentrantLock lock = new ReentrantLock();
        void load(String key) throws Exception { lock.lock(); try { Thread.sleep(600_000); } finally { lock.unlock(); } }
        void read(String key) { lock.lock(); lock.unlock(); }
    }

    static class Queue {
        final BlockingQueue<String> jobs = new LinkedBlockingQueue<>();
        void consume(int n) throws Exception { while (true) handle(jobs.take()); }
        void handle(String job) { }
    }

    static Thread start(String name, Callable<?> body) {
        Thread t = new Thread(() -> { try { body.call(); } catch (Exception e) { throw new RuntimeException(e); } }, name);
        t.setDaemon(true);
        t.start();
        return t;
    }

    static double digest(int depth) { return depth == 0 ? spin() : digest(depth - 1); }
    static double spin() { double x = 0; while (true) x += Math.sqrt(x + 1); }

    public static void main(String[] args) throws Exception {
        Account a = new Account(1), b = new Account(2);
        Transfers transfers = new Transfers();
        CountDownLatch ready = new CountDownLatch(2);
        start("transfer-east", () -> { transfers.move(a, b, ready); return null; });
        start("transfer-west", () -> { transfers.move(b, a, ready); return null; });
        Cache cache = new Cache();
        start("cache-loader", () -> { cache.load("prices"); return null; });
        Thread.sleep(200);
        for (int i = 0; i < 40; i++) { int n = i; start("http-worker-" + i, () -> { cache.read("key" + n); return null; }); }
        Queue queue = new Queue();
        for (int i = 0; i < 60; i++) { int n = i; start("job-consumer-" + i, () -> { queue.consume(n); return null; }); }
        ScheduledExecutorService timer = Executors.newScheduledThreadPool(12);
        for (int i = 0; i < 12; i++) timer.scheduleAtFixedRate(() -> { }, 300, 300, TimeUnit.SECONDS);
        start("report-digest", () -> digest(25));
        System.out.println("PoolServer ready");
        Thread.sleep(2000);
        String pid = String.valueOf(ProcessHandle.current().pid());
        new ProcessBuilder("jstack", "-l", pid).inheritIO().start().waitFor();
        System.exit(0);
    }
}
