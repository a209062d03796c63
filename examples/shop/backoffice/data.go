package backoffice

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"
)

// Data is everything the shop knows, each record under its id.
type Data struct {
	Users    map[string]*User    `json:"users"`
	Orders   map[string]*Order   `json:"orders"`
	Products map[string]*Product `json:"products"`
}

//go:embed data/db.json.gz
var compressedSeed []byte

// seed is the sample data, decoded once. Its records are shared by all shops.
var seed = sync.OnceValues(func() (Data, error) { return decodeData(compressedSeed) })

// Sample returns the sample data as a snapshot.
func Sample() (Snapshot, error) {
	data, err := seed()
	return Snapshot{data.share()}, err
}

func decodeData(compressed []byte) (Data, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return Data{}, fmt.Errorf("backoffice: sample data: %w", err)
	}
	decoder := json.NewDecoder(unzipped)
	// A field that the types lack would silently be lost from every hash.
	decoder.DisallowUnknownFields()
	var data Data
	if err := decoder.Decode(&data); err != nil {
		return Data{}, fmt.Errorf("backoffice: sample data: %w", err)
	}
	return data, nil
}
