package main

import ("context";"io")
func attackAll(ctx context.Context, out io.Writer) error {return nil}
func tell(ctx context.Context, out io.Writer) error {return nil}
