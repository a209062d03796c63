package sqlledger_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
	"github.com/sallyport-dev/sallyport/ledger/sqlledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// injection is an error that a server gives for the record of a change, so often.
type injection struct {
	code  string
	times int
}

const forever = 1 << 30

// inject makes the server answer the insertion of a record of an event with an error. It returns what ends that.
func (s *store) inject(t *testing.T, event ledger.Event, i injection) (heal func()) {
	t.Helper()
	make := []string{
		"CREATE FUNCTION {boom}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.event = '" + string(event) + "' AND nextval('{boom_n}') <= " + fmt.Sprint(i.times) +
			" THEN RAISE EXCEPTION 'injected' USING ERRCODE = '" + i.code + "'; END IF; RETURN NEW; END $$",
		"CREATE TRIGGER boom BEFORE INSERT ON {records} FOR EACH ROW EXECUTE FUNCTION {boom}()",
	}
	drop := []string{"DROP TRIGGER boom ON {records}", "DROP FUNCTION {boom}", "DROP SEQUENCE {boom_n}"}
	if s.dialect == sqlledger.MySQL {
		make = []string{"CREATE TRIGGER {boom} BEFORE INSERT ON {records} FOR EACH ROW BEGIN IF NEW.event = '" + string(event) + "' AND nextval({boom_n}) <= " + fmt.Sprint(i.times) +
			" THEN SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = " + i.code + ", MESSAGE_TEXT = 'injected'; END IF; END"}
		drop = []string{"DROP TRIGGER {boom}", "DROP SEQUENCE {boom_n}"}
	}
	for _, q := range append([]string{"CREATE SEQUENCE {boom_n}"}, make...) {
		_, err := s.exec(q)
		require.NoError(t, err, q)
	}
	return func() {
		for _, q := range drop {
			_, err := s.exec(q)
			require.NoError(t, err, q)
		}
	}
}

// TestErrorsOfServers has the server refuse a record, for a moment and for good: because of what others do at the time,
// a full disk, or a database that cannot be written. Nothing runs that is not on record, and nothing is lost.
func TestErrorsOfServers(t *testing.T) {
	passing := map[sqlledger.Dialect][]string{
		sqlledger.PostgreSQL: {"40001", "40P01", "55P03", "57014"}, // serialization, deadlock, lock timeout, statement timeout
		sqlledger.MySQL:      {"1213", "1205", "1020"},             // deadlock, lock timeout, changed since it was read
	}
	lasting := map[sqlledger.Dialect][]string{
		sqlledger.PostgreSQL: {"53100", "53200", "25006", "58030", "XX000", "40001"}, // disk full, memory, read-only, I/O, internal
		sqlledger.MySQL:      {"1114", "1021", "1290", "1030", "1146", "1213"},       // table full, disk full, read-only, engine, no table
	}
	atOnce(t, func(t *testing.T, e engine) {
		if e.dialect == sqlledger.SQLite {
			t.Skip("SQLite has its own tests: TestRefundsOnAFullDisk, TestReadOnly, TestBusyCommit and TestLockedOut")
		}
		s := e.open(t)
		s.db.SetMaxOpenConns(1)
		cashier := s.cashier(t, e.twin(t, s, func(o *sqlledger.Options) { o.Timeout = 400 * time.Millisecond }))
		n := 0
		for _, code := range passing[e.dialect] {
			for _, event := range []ledger.Event{ledger.EventProposed, ledger.EventStarted, ledger.EventFinished} {
				n++
				heal := s.inject(t, event, injection{code, 2})
				p, err := cashier.propose(t.Context(), n)
				require.NoError(t, err, "%s at %s", code, event)
				require.NoError(t, cashier.approve(t.Context(), p.ID, sam), "%s at %s", code, event)
				heal()
			}
		}
		runs := n
		require.Len(t, cashier.runs(t), runs)
		for _, c := range lasting[e.dialect] {
			n++
			heal := s.inject(t, ledger.EventProposed, injection{c, forever})
			_, err := cashier.propose(t.Context(), n)
			require.Equal(t, ledger.Unrecorded, code(t, err), c)
			heal()

			p, err := cashier.propose(t.Context(), n)
			require.NoError(t, err)
			heal = s.inject(t, ledger.EventStarted, injection{c, forever})
			require.Equal(t, ledger.Unrecorded, code(t, cashier.approve(t.Context(), p.ID, sam)), c)
			require.Empty(t, cashier.runs(t)[p.ID], c)
			heal()
			heal = s.inject(t, ledger.EventFinished, injection{c, forever})
			require.Equal(t, ledger.Interrupted, code(t, cashier.approve(t.Context(), p.ID, sam)), "%s: it ran, and its end is not on record", c)
			heal()
			require.Equal(t, ledger.Spent, code(t, cashier.approve(t.Context(), p.ID, tina)), c)
			runs++
			require.Len(t, cashier.runs(t), runs)
		}
		s.agree(t, "shop", cashier.runs(t))
	})
}

// TestLockedOut has another connection hold the lock: an approval is refused and has not happened, and works later.
func TestLockedOut(t *testing.T) {
	atOnce(t, func(t *testing.T, e engine) {
		s := e.open(t)
		direct := s.dsn
		s.dsn = map[sqlledger.Dialect]string{ // so that the engine says it, and not the store's own timeout
			sqlledger.SQLite:     strings.Replace(direct, "busy_timeout(5000)", "busy_timeout(1)", 1),
			sqlledger.PostgreSQL: with("lock_timeout=10")(direct), sqlledger.MySQL: with("innodb_lock_wait_timeout=0")(direct),
		}[e.dialect]
		cashier := s.cashier(t, e.twin(t, s, func(o *sqlledger.Options) { o.Timeout = 2 * time.Second }))
		s.dsn = direct
		p, err := cashier.propose(t.Context(), 1)
		require.NoError(t, err)
		tx, err := e.connect(t, s.dsn).Begin()
		require.NoError(t, err)
		_, err = tx.Exec(s.q("UPDATE {proposals} SET note = 'x'"))
		require.NoError(t, err)
		refused := cashier.approve(t.Context(), p.ID, sam)
		require.Equal(t, ledger.Unrecorded, code(t, refused))
		require.NotErrorIs(t, refused, sqlledger.ErrInDoubt, "the engine has said that it did nothing")
		require.NoError(t, tx.Rollback())
		require.NoError(t, cashier.approve(t.Context(), p.ID, sam))
		require.Len(t, cashier.runs(t), 1)
		s.agree(t, "shop", cashier.runs(t))
	})
}

// TestReadOnly has a database that refuses to be written: nothing runs.
func TestReadOnly(t *testing.T) {
	atOnce(t, func(t *testing.T, e engine) {
		s := e.open(t)
		near := s.cashier(t, s)
		p, err := near.propose(t.Context(), 1)
		require.NoError(t, err)
		direct := s.dsn
		s.dsn = map[sqlledger.Dialect]string{
			sqlledger.SQLite: strings.Replace(direct, "?", "?mode=ro&", 1), sqlledger.PostgreSQL: with("default_transaction_read_only=on")(direct),
			sqlledger.MySQL: with("tx_read_only=1")(direct),
		}[e.dialect]
		far, err := newCashier(e.twin(t, s, nil), near.paid)
		require.NoError(t, err)
		s.dsn = direct
		require.Equal(t, ledger.Unrecorded, code(t, far.approve(t.Context(), p.ID, sam)))
		require.Empty(t, near.runs(t))
		require.NoError(t, near.approve(t.Context(), p.ID, sam))
		s.agree(t, "shop", near.runs(t))
		require.Len(t, near.runs(t), 1)
	})
}

// TestRefundsOnAFullDisk approves until SQLite may take no more pages, and again when it may.
func TestRefundsOnAFullDisk(t *testing.T) {
	t.Parallel()
	s := engines[0].open(t)
	cashier := s.cashier(t, s)
	var rows []ledger.Proposal
	for n := range 12 {
		p, err := cashier.desk.Propose(t.Context(), registry.Call{
			Session: cashier.model, Action: "pay_refund", Params: fmt.Appendf(nil, `{"order":"W42","cents":%d,"why":%q}`, n, strings.Repeat("x", 3000)),
		})
		require.NoError(t, err)
		rows = append(rows, p.Proposal)
	}
	var pages int
	require.NoError(t, s.db.QueryRow("PRAGMA page_count").Scan(&pages))
	refused, interrupted := 0, 0
	for more := range 4 { // so that the disk is full at the claim, and at the record of the end
		direct := s.dsn
		s.dsn += fmt.Sprintf("&_pragma=max_page_count(%d)", pages+more) // of each connection
		full, err := newCashier(engines[0].twin(t, s, nil), cashier.paid)
		require.NoError(t, err)
		s.dsn = direct
		for _, p := range rows {
			switch code(t, full.approve(t.Context(), p.ID, sam)) {
			case ledger.Unrecorded:
				refused++
				require.Empty(t, cashier.runs(t)[p.ID])
			case ledger.Interrupted:
				interrupted++
			}
		}
		s.agree(t, "shop", cashier.runs(t))
	}
	require.Positive(t, refused)
	require.Positive(t, interrupted)
	for _, p := range rows {
		_ = cashier.approve(t.Context(), p.ID, tina)
		require.Len(t, cashier.runs(t)[p.ID], 1)
	}
	s.agree(t, "shop", cashier.runs(t))
	t.Logf("%d refused, %d interrupted", refused, interrupted)
}

// TestDefaultOfSerializable has many people approve at once where transactions are serializable by default.
func TestDefaultOfSerializable(t *testing.T) {
	t.Parallel()
	for _, e := range engines {
		if !strings.Contains(e.name, "serializable") {
			continue
		}
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			s := e.open(t)
			cashier := s.cashier(t, s)
			for n := range 3 {
				p, err := cashier.propose(t.Context(), n)
				require.NoError(t, err)
				won := 0
				for _, err := range together(24, func(int) error { return cashier.approve(t.Context(), p.ID, sam) }) {
					if err == nil {
						won++
					} else {
						require.Equal(t, ledger.Spent, code(t, err))
					}
				}
				require.Equal(t, 1, won)
			}
			require.Len(t, cashier.runs(t), 3)
			s.agree(t, "shop", cashier.runs(t))
		})
	}
}

// TestClockJumps moves clocks, back and forth and apart: what expired by one clock may run by another, once.
func TestClockJumps(t *testing.T) {
	atOnce(t, func(t *testing.T, e engine) {
		s := e.open(t)
		one := s.cashier(t, s)
		two, err := newCashier(e.twin(t, s, nil), one.paid)
		require.NoError(t, err)
		set := func(l *cashier, d time.Duration) { l.clock.Store(ledgertest.At(d).UnixMicro()) }

		p, err := one.propose(t.Context(), 1)
		require.NoError(t, err)
		set(one, time.Hour)
		require.Equal(t, ledger.WasExpired, code(t, one.approve(t.Context(), p.ID, sam)))
		set(one, -time.Hour) // before it was proposed
		require.NoError(t, one.approve(t.Context(), p.ID, sam))
		for _, d := range []time.Duration{-time.Hour, 0, time.Minute, time.Hour, 1000 * time.Hour} {
			set(one, d)
			require.Equal(t, ledger.Spent, code(t, one.approve(t.Context(), p.ID, tina)))
		}
		require.Len(t, one.runs(t), 1)

		for n := range 8 { // two machines whose clocks are further apart than a proposal lives
			set(one, 0)
			p, err := one.propose(t.Context(), 100+n)
			require.NoError(t, err)
			set(two, time.Duration(n-4)*2*time.Minute)
			cashiers := []*cashier{one, two}
			for _, err := range together(8, func(i int) error { return cashiers[i%2].approve(t.Context(), p.ID, sam) }) {
				require.Contains(t, []ledger.Code{"", ledger.Spent, ledger.WasExpired}, code(t, err))
			}
			require.Len(t, one.runs(t)[p.ID], 1)
		}
		s.agree(t, "shop", one.runs(t))
	})
}
