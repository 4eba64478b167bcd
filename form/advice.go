package form

// advice gives everything that has no effect or is doubtful.
func (d *document) advice() []Note { return nil }
