package remote

import _ "github.com/a2aproject/a2a-go/v2/a2a"
