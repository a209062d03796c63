package office

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"
)

// Data is everything the airline knows, each record under its id.
type Data struct {
	Users        map[string]*User        `json:"users"`
	Reservations map[string]*Reservation `json:"reservations"`
	Flights      map[string]*Flight      `json:"flights"`
}

//go:embed data/db.json.gz
var compressedSeed []byte

// seed is the sample data, decoded once. Its records are shared by all airlines.
var seed = sync.OnceValues(func() (Data, error) { return decodeData(compressedSeed) })

func decodeData(compressed []byte) (Data, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return Data{}, fmt.Errorf("office: sample data: %w", err)
	}
	decoder := json.NewDecoder(unzipped)
	// A field that the types lack would silently be lost from every hash.
	decoder.DisallowUnknownFields()
	var data Data
	if err := decoder.Decode(&data); err != nil {
		return Data{}, fmt.Errorf("office: sample data: %w", err)
	}
	return data, nil
}
