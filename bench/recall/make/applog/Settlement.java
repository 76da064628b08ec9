import java.time.*;
import java.time.format.DateTimeFormatter;
import java.util.*;

/** A settlement service of a payment house: a simulated clock and real exceptions. */
public class Settlement {
    static final Random R = new Random(71);
    static LocalDateTime clock = LocalDateTime.of(2026, 8, 20, 21, 0, 0);
    static final DateTimeFormatter F = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss,SSS");

    static class GatewayException extends RuntimeException {
        GatewayException(String m, Throwable cause) { super(m, cause); }
    }

    static void log(String level, String thread, String logger, String text, Throwable e) {
        System.out.printf("%s %-5s [%s] %s - %s%n", clock.format(F), level, thread, logger, text);
        if (e != null) e.printStackTrace(System.out);
    }

    static void send(int batch, int n) {
        try {
            if (n % 577 == 300) throw new java.net.SocketTimeoutException("Read timed out");
            if (n % 911 == 500) throw new IllegalStateException("batch " + batch + " is already closed");
        } catch (java.net.SocketTimeoutException e) {
            throw new GatewayException("clearing house did not answer within 5000 ms", e);
        }
    }

    static long sum(Map<String, Long> totals, String currency) {
        return totals.get(currency) + 1;
    }

    public static void main(String[] args) {
        Map<String, Long> totals = new HashMap<>(Map.of("EUR", 0L, "CHF", 0L, "GBP", 0L));
        log("INFO", "main", "o.e.settle.Application", "Starting Settlement v4.1.7 with profile prod", null);
        log("WARN", "main", "o.e.settle.Config", "property settle.legacy-cutoff is deprecated, use settle.cutoff", null);
        for (int n = 0; n < 11000; n++) {
            clock = clock.plusNanos((long) (R.nextDouble() * 1.9e9));
            String thread = "worker-" + (1 + n % 6);
            int batch = 300 + n / 120;
            String currency = n == 7321 ? "ZZZ" : List.of("EUR", "EUR", "EUR", "CHF", "GBP").get(R.nextInt(5));
            try {
                send(batch, n);
                totals.merge(currency.equals("ZZZ") ? "EUR" : currency, sum(totals, currency), (a, b) -> b);
                log("INFO", thread, "o.e.settle.Batch", "settled transfer T" + (810000 + n) + " batch=" + batch + " currency=" + currency + " ms=" + (8 + R.nextInt(60)), null);
            } catch (GatewayException e) {
                log("ERROR", thread, "o.e.settle.Gateway", "transfer T" + (810000 + n) + " failed, will retry", e);
                clock = clock.plusSeconds(5);
            } catch (IllegalStateException e) {
                log("ERROR", thread, "o.e.settle.Batch", "transfer T" + (810000 + n) + " rejected", e);
            } catch (NullPointerException e) {
                log("ERROR", thread, "o.e.settle.Totals", "unexpected error on T" + (810000 + n), e);
            }
            if (n % 400 == 399) log("DEBUG", "gc-watch", "o.e.settle.Memory", "heap used " + (310 + n / 40) + " MB of 768 MB", null);
            if (n % 1900 == 1200) log("WARN", thread, "o.e.settle.Pool", "connection pool exhausted, waited " + (800 + n / 3) + " ms", null);
            if (n == 9000) {
                log("INFO", "shutdown", "o.e.settle.Application", "SIGTERM received, draining 12 transfers", null);
                clock = clock.plusSeconds(64);
                log("INFO", "main", "o.e.settle.Application", "Starting Settlement v4.1.8 with profile prod", null);
            }
        }
        log("INFO", "main", "o.e.settle.Application", "cut-off reached, " + totals.size() + " currencies balanced", null);
    }
}
