#!/usr/bin/env python3
"""Makes documents: sources, Markdown, prose and an accessibility tree. usage: documents.py NAME > output"""
import random
import sys

NAME = sys.argv[1]
R = random.Random(NAME)


def go():
    print("""// Package courier plans parcel rounds and keeps the state of every drop.
package courier

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"example.com/courier/geo"
)

const (
	maxStops       = 140
	defaultTimeout = 45 * time.Second
	retryLimit     = 6
	queueName      = "rounds.v3"
)

// Errors that callers may compare with errors.Is.
var (
	ErrNoDriver   = errors.New("courier: no driver is free")
	ErrRoundFull  = errors.New("courier: round is full")
	ErrWrongDepot = errors.New("courier: parcel belongs to another depot")
)

// State is the state of a drop.
type State int

const (
	StatePlanned State = iota
	StateLoaded
	StateDelivered
	StateRefused
	StateLost
)

// Store keeps rounds.
type Store interface {
	Round(ctx context.Context, id string) (*Round, error)
	Save(ctx context.Context, round *Round) error
}

// Planner plans rounds. It is safe for use by several goroutines.
type Planner struct {
	mu      sync.Mutex
	store   Store
	clock   func() time.Time
	limit   int
	waiting map[string]*Round
}
""")
    nouns = ["Parcel", "Driver", "Van", "Depot", "Round", "Drop", "Window", "Zone", "Route", "Claim", "Label", "Scan"]
    for noun in nouns:
        low = noun.lower()
        print(f"""// {noun} is a {low} as it is stored.
type {noun} struct {{
	ID      string
	Depot   string
	Created time.Time
	Weight  int
}}

// New{noun} makes a {low} with a fresh number.
func New{noun}(id, depot string, now time.Time) *{noun} {{
	return &{noun}{{ID: id, Depot: depot, Created: now}}
}}

// Validate says what is wrong with the {low}.
func (x *{noun}) Validate() error {{
	if x.ID == "" {{
		return fmt.Errorf("courier: {low} without a number")
	}}
	if x.Weight < 0 {{
		return fmt.Errorf("courier: {low} %s weighs %d", x.ID, x.Weight)
	}}
	return nil
}}

// Age is how long ago the {low} was made.
func (x *{noun}) Age(now time.Time) time.Duration {{
	return now.Sub(x.Created)
}}

// In{noun}Zone tells whether the {low} lies in a zone.
func (x *{noun}) In{noun}Zone(zone geo.Zone) bool {{
	return zone.Holds(x.Depot)
}}
""")
    print("""// Assign gives a parcel to the round with the most room.
func (p *Planner) Assign(ctx context.Context, parcel *Parcel, rounds []*Round) (*Round, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// TODO: weigh by distance, not by room alone.
	var best *Round
	for _, round := range rounds {
		if round.Depot != parcel.Depot {
			continue
		}
		if best == nil || round.Weight < best.Weight {
			best = round
		}
	}
	if best == nil {
		return nil, ErrWrongDepot
	}
	if best.Weight+parcel.Weight > 9_500 {
		return nil, ErrRoundFull
	}
	return best, nil
}

// Replan moves all drops of a van that broke down to other rounds.
func (p *Planner) Replan(ctx context.Context, van string) (moved int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()""")
    for step in ["load the round", "find free drivers", "split by zone", "check the windows", "reserve a van", "tell the depot", "save"]:
        word = step.split()[-1]
        print(f"""	// {step}
	for attempt := 0; attempt < retryLimit; attempt++ {{
		if err = p.{word}(ctx, van); err == nil {{
			break
		}}
	}}
	if err != nil {{
		return moved, fmt.Errorf("courier: replan %s: {step}: %w", van, err)
	}}""")
    print("""	// FIXME: the drops of the broken van are counted twice if save is tried again.
	moved += len(p.waiting)
	return moved, nil
}

func (p *Planner) mustClock() time.Time {
	if p.clock == nil {
		panic("courier: planner without a clock")
	}
	return p.clock()
}""")
    for noun in nouns:
        low = noun.lower()
        for verb in ["Sort", "Count", "Export", "Index"]:
            print(f"""
// {verb}{noun}s goes over all {low}s.
func {verb}{noun}s(all []*{noun}) int {{
	total := 0
	for _, one := range all {{
		if one.Weight > 0 {{
			total += one.Weight
		}}
	}}
	return total
}}""")


def java():
    print("""/*
 * Keeps the accounts of a club: postings, statements, reminders.
 */
package org.example.club.ledger;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The ledger of one year. Not safe for use by several threads.
 *
 * @since 4.2
 */
public final class ClubLedger implements AutoCloseable {

    public static final int MAX_POSTINGS = 18_000;
    private static final String DATE_FORMAT = "dd.MM.uuuu";
    static final BigDecimal REMINDER_FEE = new BigDecimal("7.50");
    private static final long LOCK_MILLIS = 2_400L;

    /** Where a posting stands. */
    public enum Status {
        DRAFT,
        BOOKED,
        DISPUTED,
        WRITTEN_OFF;
    }

    public interface Listener {
        void booked(Posting posting);

        default void closed(int year) {
        }
    }

    public record Posting(String id, LocalDate day, BigDecimal amount, Status status) {
    }

    public static class LedgerClosedException extends IllegalStateException {
        LedgerClosedException(int year) {
            super("the ledger of " + year + " is closed");
        }
    }

    private final List<Posting> postings = new ArrayList<>();
    private final int year;
    private boolean closed;

    public ClubLedger(int year) {
        if (year < 1990) {
            throw new IllegalArgumentException("no ledgers before 1990");
        }
        this.year = year;
    }

    /**
     * Books an amount.
     *
     * @throws LedgerClosedException if the year has been closed
     */
    public Posting book(String id, LocalDate day, BigDecimal amount) {
        if (closed) {
            throw new LedgerClosedException(year);
        }
        if (postings.size() >= MAX_POSTINGS) {
            throw new IllegalStateException("too many postings in one year");
        }
        // TODO split postings over two years
        Posting posting = new Posting(id, day, amount, Status.BOOKED);
        postings.add(posting);
        return posting;
    }
""")
    for noun in ["Member", "Guest", "Team", "Court", "Locker", "Course", "Trainer", "Sponsor", "Event", "Kitchen", "Ticket", "Boat", "Prize", "Coach", "Bar", "Shop"]:
        low = noun.lower()
        print(f"""    public Optional<Posting> find{noun}Posting(String id) {{
        for (Posting posting : postings) {{
            if (posting.id().startsWith("{low}-" + id)) {{
                return Optional.of(posting);
            }}
        }}
        return Optional.empty();
    }}

    public BigDecimal sumOf{noun}s() {{
        BigDecimal sum = BigDecimal.ZERO;
        for (Posting posting : postings) {{
            if (posting.id().startsWith("{low}-")) {{
                sum = sum.add(posting.amount());
            }}
        }}
        return sum;
    }}

    private List<Posting> open{noun}Postings(LocalDate until) {{
        List<Posting> open = new ArrayList<>();
        for (Posting posting : postings) {{
            if (posting.status() == Status.DISPUTED && posting.day().isBefore(until)) {{
                open.add(posting);
            }}
        }}
        return open;
    }}

    void print{noun}Line(StringBuilder out, Posting posting) {{
        out.append("{low}").append(' ').append(posting.day()).append(' ').append(posting.amount());
    }}
""")
    print("""    @Deprecated(since = "4.7", forRemoval = true)
    public Map<String, BigDecimal> balances() {
        throw new UnsupportedOperationException("use statement(LocalDate) instead");
    }

    public String statement(LocalDate until) {
        StringBuilder out = new StringBuilder();""")
    for noun in ["Member", "Guest", "Team", "Court", "Locker", "Course", "Trainer"]:
        print(f"""        for (Posting posting : open{noun}Postings(until)) {{
            print{noun}Line(out, posting);
            out.append('\\n');
        }}
        if (sumOf{noun}s().signum() < 0) {{
            out.append("overdrawn: {noun.lower()}s\\n");
        }}""")
    print("""        return out.toString();
    }

    @Override
    public void close() {
        closed = true;
    }
}""")


def changelog():
    print("""# Changelog

All notable changes of Kestrel, a scheduler for small clusters. Versions follow semantic versioning.

## [Unreleased]

### Added

- `kestrel drain --dry-run` prints what would be moved.

## [5.0.0] - 2026-10-02

### Breaking changes

- The minimum supported kernel is now 5.15.
- `queue.weight` was renamed to `queue.share`; the old key is an error.

### Added

- Nodes can be labelled from the command line (#1841).
- Metrics of every queue under `/metrics/queues`.

### Fixed

- A node that rejoined within two seconds was counted twice (#1836).
""")
    parts = ["scheduler", "queue", "drain", "node list", "lease", "metrics endpoint", "config loader", "cli", "log rotation", "web view", "plugin host", "state file"]
    effects = ["no longer waits for the leader", "keeps its order after a restart", "shows the age in seconds", "accepts several names", "reports the owner", "uses half of the memory", "handles an empty file", "times out after the given time"]
    number = 1830
    year, month = 2026, 9
    for major, minor in [(4, m) for m in range(14, -1, -1)] + [(3, m) for m in range(9, -1, -1)] + [(2, m) for m in range(6, -1, -1)]:
        for patch in ([2, 1, 0] if minor % 3 == 0 else [0]):
            yanked = " [YANKED]" if (major, minor, patch) == (4, 9, 1) else ""
            print(f"## [{major}.{minor}.{patch}] - {year}-{month:02}-{R.randrange(1, 28):02}{yanked}\n")
            month -= 1
            if month == 0:
                year, month = year - 1, 12
            if minor == 0 and patch == 0:
                print("### Breaking changes\n")
                print({4: "- Nodes older than 3.6 are refused by the leader.\n", 3: "- The state file is written as CBOR instead of JSON.\n", 2: "- Python plugins are gone.\n"}[major])
            if (major, minor, patch) == (4, 6, 0):
                print("### Security\n\n- CVE-2026-30417: a token could be read from the process list. Update at once.\n")
            if (major, minor, patch) == (3, 4, 0):
                print("### Deprecated\n\n- `kestrel top` is deprecated in favour of `kestrel watch`.\n")
            for title in ["Added", "Fixed", "Changed"]:
                if title == "Changed" and patch:
                    continue
                print(f"### {title}\n")
                for _ in range(R.randrange(2, 5)):
                    number -= 1
                    print(f"- The {R.choice(parts)} {R.choice(effects)} (#{number}).")
                print()


def adr():
    print("""# ADR 31: Store readings in one table per month

- Status: accepted, supersedes [ADR 12](0012-one-table.md)
- Date: 2026-03-18
- Deciders: storage group, operations
- Review by: 2027-03-01

## Context

The table `readings` has 4.1 billion rows. Deleting a day takes 52 minutes and blocks vacuum, and the index no longer fits
into the 96 GB of memory of the primary. Customers keep 13 months.

## Decision

We partition `readings` by month, with `pg_partman`, and drop whole partitions. The partition key is `measured_at`, not
`received_at`, since queries ask for the former.

## Options considered

| Option | Delete a day | Query p95 | Disk | Verdict |
|--------|--------------|-----------|------|---------|
| One table, as now | 52 min | 840 ms | 1.9 TB | rejected |
| Partitions by month | 0.3 s | 210 ms | 2.0 TB | chosen |
| Partitions by day | 0.2 s | 390 ms | 2.2 TB | rejected: 400 partitions slow the planner |
| A columnar store | 4 s | 95 ms | 0.4 TB | rejected: nobody here runs it |

## Consequences

- Late readings (older than 13 months) are refused with `READING_TOO_OLD`.
- Unique constraints must contain `measured_at`.
- The nightly export has to be rewritten before the switch.

### Roll-out

1. Create the partitions with `just partitions-create 2025-03`.
2. Copy with `just backfill --rate 4000`, which takes about 31 hours.
3. Switch the views in one transaction.
4. Keep the old table until 2026-06-30.

> **Warning**
> Do not run the backfill while the quarterly report is made: both need the same lock.

### Open questions

- [ ] Who owns the alarm for missing partitions?
- [ ] Is `tariff_readings` to follow?
- [x] Does the reader in the field retry on refusal?

## Appendix: statements that were measured
""")
    for at in range(1, 81):
        site = R.choice(["north", "river", "quay", "mill", "dam"])
        print(f"""### Statement {at}

Reads the {R.choice(['mean', 'peak', 'sum', 'first value', 'last value'])} of the {site} meters for {R.choice(['a day', 'a week', 'a month'])}, grouped by {R.choice(['meter', 'tariff', 'hour'])}. It ran {R.randrange(100, 900)} times in the sample.

```sql
SELECT meter, avg(value) FROM readings
WHERE site = '{site}' AND measured_at >= now() - interval '{at} days'
GROUP BY meter;
```
""")


def report():
    print("""REPORT ON THE OUTAGE OF THE TICKET SHOP ON 9 JULY 2026

Prepared by the reliability group for the board of operations

1. In brief

On 9 July 2026 the ticket shop could not sell tickets for 3 hours and 12 minutes, from 07:41 to 10:53. About 21,400
purchases failed. No payment was taken twice and no personal data was lost. The cause was a certificate of the payment
gateway that had expired at 07:41.

2. Impact

Of the 21,400 purchases that failed, 15,900 were repeated by the customers on the same day. We estimate the loss at
86,000 EUR. The call centre answered 2,310 calls, four times as many as on a usual Thursday. Machines at stations went
on to sell tickets for cash.

3. Root cause

The certificate was renewed on 2 July, but the new one was only installed on the gateway in Hall B. The gateway in Hall
A kept the old one because its host had been renamed in May and the script that copies certificates skips hosts that it
does not know. The script ends with status 0 in that case.

4. What went well

The switch to the reserve page took four minutes. The statements to customers were correct from the beginning.
""")
    subjects = ["The operator on duty", "The network group", "The payment partner", "The call centre", "The database group", "The station manager", "The web group"]
    acts = ["checked the dashboards of the shop and saw that the queue of orders was growing", "asked the others on the line whether a change had been made in the night", "restarted one of the front servers, which made no difference to what customers saw", "compared the settings of the two halls and found no difference in the routing", "reported that the number of errors was the same as some minutes before", "prepared a text for the page and had it read by a second person", "looked through the logs of the proxy for answers that had not been seen before"]
    print("5. Course of events\n")
    hour, minute = 7, 41
    for at in range(110):
        if at == 61:
            print("At 10:02 the network group ran a handshake by hand against Hall A and saw that the certificate had expired. This was\nthe first time that the cause was known, 2 hours and 21 minutes after the beginning.\n")
        print(f"At {hour:02}:{minute:02} {R.choice(subjects)[0].lower() + R.choice(subjects)[1:]} {R.choice(acts)}. {R.choice(subjects)} {R.choice(acts)}, and\nthe line stayed open while the next step was talked through with everybody who had joined so far.\n")
        minute += 2 if at % 4 else 1
        if minute > 59:
            hour, minute = hour + 1, minute - 60
    print("""6. Recommendations

R1. The copying script must fail when it meets a host that it does not know. Owner: platform group. Due: 31 July 2026.

R2. Certificates are watched from outside, with an alarm 21 days before they expire. Owner: reliability group. Due: 15
August 2026.

R3. The reserve page gets a way to reserve tickets without paying. Owner: web group. Due: 30 November 2026.

7. Conclusion

The outage could have been prevented by an alarm that costs nothing. The board is asked to approve R1 to R3 and 12,000
EUR for R3.""")


def tree():
    refs = iter(range(1, 10_000))
    out = lambda depth, text: print("  " * depth + f"uid=4_{next(refs)} {text}")
    out(0, 'RootWebArea "Boat parts - Anchor & Oar" url="http://localhost:8300/parts?page=2"')
    out(1, "banner")
    out(2, 'link "Anchor & Oar" url="http://localhost:8300/"')
    out(2, 'searchbox "Search parts" focusable')
    out(2, 'button "Search"')
    out(2, 'link "Basket, 3 items, 148.70 EUR" url="http://localhost:8300/basket"')
    out(1, 'navigation "Categories"')
    for name, count in [("Anchors", 34), ("Ropes", 112), ("Pumps", 27), ("Lights", 58), ("Paint", 41)]:
        out(2, f'link "{name} ({count})" url="http://localhost:8300/parts/{name.lower()}"')
    out(1, "main")
    out(2, 'heading "Boat parts" level="1"')
    out(2, 'StaticText "Showing 41 to 120 of 272 parts"')
    out(2, 'combobox "Sort by" expandable haspopup="menu" value="Price, low to high"')
    out(3, 'option "Newest"')
    out(3, 'option "Price, low to high" selectable selected')
    out(2, 'checkbox "In stock only"')
    out(2, 'checkbox "Ships today" checked')
    out(2, "list")
    price = 12.0
    for at in range(80):
        price += R.choice([0.4, 1.1, 2.5])
        name = f"{R.choice(['Brass', 'Steel', 'Nylon', 'Teak', 'Bronze'])} {R.choice(['cleat', 'shackle', 'pump', 'lamp', 'anchor', 'hatch', 'winch'])} {at + 41}"
        out(3, "listitem")
        out(4, f'heading "{name}" level="2"')
        out(5, f'link "{name}" url="http://localhost:8300/part/{at + 41}"')
        out(4, f'StaticText "{price:.2f} EUR"')
        if at == 37:
            out(4, 'StaticText "Recalled: do not use above 40 bar"')
        if at in (11, 52, 70):
            out(4, 'StaticText "Sold out"')
            out(4, 'button "Add to basket" disableable disabled')
        else:
            out(4, f'StaticText "{R.randrange(2, 40)} in stock"')
            out(4, 'button "Add to basket"')
    out(2, 'navigation "Pages"')
    out(3, 'link "Previous" url="http://localhost:8300/parts?page=1"')
    out(3, 'StaticText "Page 2 of 4"')
    out(3, 'link "Next" url="http://localhost:8300/parts?page=3"')
    out(1, "contentinfo")
    out(2, 'form "Newsletter"')
    out(3, 'textbox "Email address" required invalid="true"')
    out(3, 'StaticText "Enter an address with an @"')
    out(3, 'button "Subscribe"')


{"source-go-courier": go, "source-java-ledger": java, "markdown-changelog-kestrel": changelog, "markdown-adr-readings": adr, "prose-outage-report": report, "a11y-catalogue-parts": tree}[NAME]()
