/*
 * Copyright the authors.
 * Licensed under the Apache License.
 */
package net.example.harbour;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Keeps the berths of a harbour. Ships ask it where to lie.
 *
 * @param <S> the kind of ship
 * @since 2.0
 */
@Service("harbour")
@SuppressWarnings({"unchecked", "rawtypes"})
public abstract class Harbour<S extends Ship & Comparable<S>> extends AbstractPlace implements Place, AutoCloseable {
    /** The most ships at once. */
    public static final int MOST = 400;
    protected final Map<String, List<S>> berths;
    private long opened = System.nanoTime(), closed;
    String owner;

    static {
        register();
    }

    /** Opens a harbour with a number of berths. */
    @Inject
    public Harbour(
            @Named("berths") int count, // how many
            Map<String, List<S>> berths) throws IOException {
        this.berths = berths;
    }

    Harbour() {
        this.berths = null;
    }

    /**
     * {@inheritDoc}
     */
    @Override
    public void close() throws IOException {
        closed = 1;
    }

    /** Finds a berth, e.g. for a small ship. Returns null if there is none. */
    public <K, V extends List<? super K>> V find(final K key, Function<? super K, V>... how) {
        class Local {
        }
        return how[0].apply(key);
    }

    protected abstract S next();

    private int hidden(int[] values) {
        return values.length;
    }

    @Deprecated
    public static synchronized native void legacy();

    /** What a berth is like. */
    public enum Depth implements Measured {
        /** Below two metres. */
        SHALLOW(2),
        DEEP(20) {
            @Override
            int metres() {
                return 21;
            }
        };

        private final int metres;

        Depth(int metres) {
            this.metres = metres;
        }

        int metres() {
            return metres;
        }
    }

    public record Berth(String name, @Positive int length) implements Comparable<Berth> {
        public Berth {
            check(length);
        }

        @Override
        public int compareTo(Berth other) {
            return 0;
        }
    }

    private static class Ledger {
        public void note() {
        }
    }

    public interface Visitor<R> {
        int LIMIT = 3;

        R visit(Berth berth);

        default R nothing() {
            return null;
        }
    }

    public sealed interface Signal permits Flag, Horn {
    }

    public @interface Named {
        String value() default "";

        int priority() default 10;
    }
}

class Helper {
    void help() {
    }
}
