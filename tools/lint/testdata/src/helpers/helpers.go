package helpers // want "package helpers: name it for what it holds"
