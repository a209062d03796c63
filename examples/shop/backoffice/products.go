package backoffice

import (
	"context"
	"maps"
)

// Product is a type of product with all its variants, each under its item id.
type Product struct {
	Name      string             `json:"name"`
	ProductID string             `json:"product_id"`
	Variants  map[string]Variant `json:"variants"`
}

// Variant is a product as one can order it, such as a red shirt in size L.
type Variant struct {
	ItemID    string            `json:"item_id"`
	Options   map[string]string `json:"options"`
	Available bool              `json:"available"`
	Price     float64           `json:"price"`
}

// GetProduct names a product to read.
type GetProduct struct {
	ProductID string `json:"product_id" jsonschema_description:"The product id, such as '6086499569'. Be careful the product id is different from the item id."`
}

// ListProductTypes has no parameters.
type ListProductTypes struct{}

// GetProductDetails returns a product with the price and stock of its variants.
func (s *Shop) GetProductDetails(ctx context.Context, p GetProduct) (Product, error) {
	product, err := find(ctx, s, s.data.Products, p.ProductID, errProductNotFound)
	if err != nil {
		return Product{}, err
	}
	return *product, nil
}

// ListAllProductTypes returns the product id of each product by its name.
func (s *Shop) ListAllProductTypes(ctx context.Context, _ ListProductTypes) (map[string]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	types := make(map[string]string, len(s.data.Products))
	for id, product := range s.data.Products {
		types[product.Name] = id
	}
	return types, nil
}

//lint:ignore U1000 copyAll and find call it through their type parameter, which the linter does not follow.
func (p *Product) clone() *Product {
	c := *p
	c.Variants = maps.Clone(p.Variants)
	for id, variant := range c.Variants {
		c.Variants[id] = variant.clone()
	}
	return &c
}

func (v Variant) clone() Variant {
	v.Options = maps.Clone(v.Options)
	return v
}
