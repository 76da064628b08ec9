// Package broken is in the middle of an edit.
package broken

type Config struct {
	Name string
	Port int
}

func Load(path string) (*Config, error) {
	if path == "" {
		return nil, fmt.Errorf("no path"
	}
	return &Config{}, nil
}

func (c *Config) Save(path string) error {
	return nil
}

func Half(a int,

func After(b string) bool {
	return true
}
