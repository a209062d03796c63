package ledgertest

import (
	"context"
	"fmt"

	"github.com/sallyport-dev/sallyport/ledger"
)

// joining is an application's table in memory, and how its rows come and go with the units of a store.
type joining struct {
	rows map[string]bool
	unit func(*joinedUnit) ledger.Unit // replaces a sound one
}

type joinedKey struct{}

// joinedUnit is a sound unit of work.
type joinedUnit struct {
	store  ledger.Store
	rows   map[string]bool
	writes []string
	ended  bool
}

func (b *broken) Unit(ctx context.Context) (context.Context, ledger.Unit) {
	if b.joining.rows == nil {
		b.joining.rows = map[string]bool{}
	}
	u := &joinedUnit{store: b, rows: b.joining.rows}
	ctx = context.WithValue(ctx, joinedKey{}, u)
	if b.joining.unit != nil {
		return ctx, b.joining.unit(u)
	}
	return ctx, u
}

func (b *broken) Join(ctx context.Context, key string) error {
	u := ctx.Value(joinedKey{}).(*joinedUnit)
	u.writes = append(u.writes, key)
	return nil
}

func (b *broken) Joined(_ context.Context, key string) (bool, error) { return b.joining.rows[key], nil }

func (u *joinedUnit) end(change func() error) error {
	if u.ended {
		return ledger.ErrConflict
	}
	u.ended = true
	if err := change(); err != nil {
		return fmt.Errorf("%w: %w", ledger.ErrUncommitted, err)
	}
	u.commit()
	return nil
}

func (u *joinedUnit) commit() {
	for _, key := range u.writes {
		u.rows[key] = true
	}
}

func (u *joinedUnit) Finish(ctx context.Context, f ledger.Finish) error {
	return u.end(func() error { return u.store.Finish(ctx, f) })
}

func (u *joinedUnit) Append(ctx context.Context, r ledger.Record) error {
	return u.end(func() error { return u.store.Append(ctx, r) })
}

func (u *joinedUnit) Undo() { u.ended = true }

var _ Joiner = (*broken)(nil)

// flawedUnit is a unit of which a method is replaced.
type flawedUnit struct {
	*joinedUnit
	finish func(context.Context, ledger.Finish) error
	append func(context.Context, ledger.Record) error
	undo   func()
}

func (u flawedUnit) Finish(ctx context.Context, f ledger.Finish) error {
	return orPlain(u.finish, u.joinedUnit.Finish)(ctx, f)
}

func (u flawedUnit) Append(ctx context.Context, r ledger.Record) error {
	return orPlain(u.append, u.joinedUnit.Append)(ctx, r)
}

func (u flawedUnit) Undo() {
	if u.undo != nil {
		u.undo()
		return
	}
	u.joinedUnit.Undo()
}

// units makes a flaw of what a unit does wrong.
func units(name, clause string, make func(*joinedUnit) ledger.Unit) flaw {
	return flaw{name, []string{clause}, func(b *broken, _ *ledger.Memory) { b.joining.unit = make }}
}

var unitFlaws = []flaw{
	units("an outcome without the run's writes", "a run's writes are there with its outcome", func(u *joinedUnit) ledger.Unit {
		return flawedUnit{joinedUnit: u, finish: func(ctx context.Context, f ledger.Finish) error {
			u.writes = nil
			return u.Finish(ctx, f)
		}}
	}),
	units("the run's writes without an outcome", "a run's writes are there with its outcome", func(u *joinedUnit) ledger.Unit {
		return flawedUnit{joinedUnit: u, finish: func(context.Context, ledger.Finish) error {
			return u.end(func() error { return nil })
		}}
	}),
	units("a unit that nobody joined keeps nothing", "a run's writes are there with its outcome", func(u *joinedUnit) ledger.Unit {
		return flawedUnit{joinedUnit: u, finish: func(ctx context.Context, f ledger.Finish) error {
			if u.writes == nil {
				return u.end(func() error { return nil })
			}
			return u.Finish(ctx, f)
		}}
	}),
	units("a record without the run's writes", "a run's writes are there with their record", func(u *joinedUnit) ledger.Unit {
		return flawedUnit{joinedUnit: u, append: func(ctx context.Context, r ledger.Record) error {
			u.writes = nil
			return u.Append(ctx, r)
		}}
	}),
	units("a unit that has ended goes on", "a run's writes are there with their record", func(u *joinedUnit) ledger.Unit {
		return flawedUnit{joinedUnit: u, append: func(ctx context.Context, r ledger.Record) error {
			u.ended = false
			return u.Append(ctx, r)
		}}
	}),
	units("Undo commits", "an undone run has written nothing", func(u *joinedUnit) ledger.Unit {
		return flawedUnit{joinedUnit: u, undo: func() { u.ended = true; u.commit() }}
	}),
	units("an undone unit finishes", "an undone run has written nothing", func(u *joinedUnit) ledger.Unit {
		return flawedUnit{joinedUnit: u, finish: func(ctx context.Context, f ledger.Finish) error { return u.store.Finish(ctx, f) }}
	}),
	units("a refused outcome leaves the run's writes", "a run whose outcome is refused has written nothing", func(u *joinedUnit) ledger.Unit {
		return flawedUnit{joinedUnit: u, finish: func(ctx context.Context, f ledger.Finish) error {
			u.commit()
			return u.Finish(ctx, f)
		}}
	}),
	units("a refused outcome is said to be lost", "a run whose outcome is refused has written nothing", func(u *joinedUnit) ledger.Unit {
		return flawedUnit{joinedUnit: u, finish: func(ctx context.Context, f ledger.Finish) error {
			if err := u.Finish(ctx, f); err != nil {
				return context.DeadlineExceeded
			}
			return nil
		}}
	}),
}
