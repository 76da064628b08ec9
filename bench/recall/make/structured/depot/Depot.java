import java.util.*; import java.util.concurrent.*; import java.util.logging.*;
public class Depot {
  static final Logger in = Logger.getLogger("depot.intake"), route = Logger.getLogger("depot.routing"), label = Logger.getLogger("depot.labels"), db = Logger.getLogger("depot.store.Pool");
  static class Scan { final Random r = new Random(7);
    void one(int n) {
      in.fine("parcel P" + (40000 + n) + " scanned at gate " + (n % 6));
      int w = 200 + r.nextInt(9000);
      in.info("parcel P" + (40000 + n) + " weighs " + w + " g, class " + (w > 8000 ? "heavy" : w > 2000 ? "normal" : "light"));
      if (n % 97 == 13) route.warning("no belt for postcode " + (10000 + r.nextInt(80000)) + ", parcel P" + (40000 + n) + " goes to manual sorting");
      if (n % 71 == 5) label.log(Level.SEVERE, "label printer LP-" + (n % 3) + " does not answer", new java.io.IOException("Broken pipe", new java.net.SocketTimeoutException("Read timed out after 5000 ms")));
      if (n == 250) db.log(Level.SEVERE, "pool exhausted: 12 of 12 connections busy, 31 waiting", new IllegalStateException("no connection within 2500 ms"));
      if (n % 50 == 0) db.config("pool size 12, idle " + r.nextInt(12) + ", wait " + r.nextInt(40) + " ms");
    } }
  public static void main(String[] a) throws Exception {
    Logger root = Logger.getLogger(""); root.setLevel(Level.FINE); for (Handler h : root.getHandlers()) h.setLevel(Level.FINE);
    for (String s : new String[]{"sun","java","jdk"}) Logger.getLogger(s).setLevel(Level.OFF);
    Logger main = Logger.getLogger("depot.Main");
    main.info("depot 5.3.2 starting, build 8812, profile night");
    main.info("listening on port 7440, 6 gates, 3 label printers");
    Scan s = new Scan(); for (int i = 0; i < 430; i++) s.one(i);
    main.warning("shutdown asked for by operator, 4 parcels on belt");
    main.info("stopped after 430 parcels, 6 label failures, 417 routed");
  } }
