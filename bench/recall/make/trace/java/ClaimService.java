import java.util.*;
import java.util.function.*;

/** Handles generated claims and logs exceptions with their causes. */
public class ClaimService {
    static class ClaimException extends RuntimeException { ClaimException(String m, Throwable c) { super(m, c); } }
    static class StoreException extends Exception { StoreException(String m, Throwable c) { super(m, c); } }
    static class Claim { int id; String code; String amount; Claim next; }

    static final Random RNG = new Random(99);
    static int second = 0, errors = 0, warnings = 0;

    static void log(String level, String where, String text) {
        second += 1 + RNG.nextInt(3);
        System.out.printf("2025-04-11 %02d:%02d:%02d %-5s [claims-%d] %s - %s%n", 6 + second / 3600, second / 60 % 60, second % 60, level, second % 4, where, text);
    }

    static void failed(String where, String text, Throwable t) { errors++; log("ERROR", where, text); t.printStackTrace(System.out); }

    interface Stage { Claim apply(Claim c) throws Exception; }

    static class Parser {
        static long amount(Claim c) { return Long.parseLong(c.amount); }
    }
    static class Codes {
        static final Map<String, Integer> TABLE = new HashMap<>(Map.of("A10", 120, "B20", 80, "C31", 300));
        static int limit(String code) { return TABLE.get(code); }
    }
    static class Store {
        static void save(Claim c) throws StoreException {
            try { write(c); }
            catch (IllegalStateException e) { throw new StoreException("claim " + c.id + " not saved after 3 attempts", e); }
        }
        static void write(Claim c) {
            if (c.id % 113 == 0) throw new IllegalStateException("connection pool exhausted (size 8, waiting 31)", new java.net.SocketTimeoutException("Read timed out"));
        }
    }

    static Claim validate(Claim c) {
        try {
            if (Parser.amount(c) > Codes.limit(c.code)) { warnings++; log("WARN", "limits", "claim " + c.id + " above the limit of " + c.code); }
            return c;
        } catch (NumberFormatException e) {
            throw new ClaimException("claim " + c.id + " has a bad amount", e);
        }
    }

    static Claim chain(List<Stage> stages, int i, Claim c) throws Exception {
        if (i == stages.size()) return c;
        Claim out = stages.get(i).apply(c);
        return chain(stages, i + 1, out);
    }

    static int depth(Claim c) { return c.next == null ? 1 : 1 + depth(c.next); }

    public static void main(String[] args) throws Exception {
        List<Stage> stages = new ArrayList<>();
        for (int i = 0; i < 6; i++) stages.add(c -> c);
        stages.add(ClaimService::validate);
        stages.add(c -> { Store.save(c); return c; });
        stages.add(c -> { if (c.id == 20871) c.next = c; depth(c); return c; });
        String[] codes = {"A10", "B20", "C31", "A10", "B20"};
        for (int n = 0; n < 6000; n++) {
            Claim c = new Claim();
            c.id = 20000 + n;
            c.code = n % 131 == 130 ? "Z99" : codes[RNG.nextInt(codes.length)];
            c.amount = n % 89 == 88 ? "12,50" : String.valueOf(RNG.nextInt(130));
            try {
                chain(stages, 0, c);
                log("INFO", "claims", "accepted claim " + c.id + " code=" + c.code + " amount=" + c.amount);
            } catch (StackOverflowError e) {
                failed("claims", "claim " + c.id + " crashed the handler", e);
            } catch (Exception e) {
                failed("claims", "claim " + c.id + " failed", e);
            }
        }
        log("INFO", "claims", "finished: 6000 claims, " + errors + " errors, " + warnings + " warnings");
        throw new ClaimException("nightly run ended with " + errors + " errors", null);
    }
}
