// Ag-ui serves a page that drives an agent through Taskbay's AG-UI adapter: a front end
// with nothing in it but what a browser has, to read and to start from.
package main

import (
	"embed"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

//go:embed index.html client.js
var files embed.FS

func main() {
	listen := flag.String("listen", "127.0.0.1:3010", "address of the page")
	flag.Parse()
	if err := serve(*listen); err != nil {
		fmt.Fprintln(os.Stderr, "ag-ui:", err)
		os.Exit(1)
	}
}

func serve(address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Printf("The page is at http://%s\nStart the console with --ag-ui-origins=http://%[1]s\n", listener.Addr())
	server := http.Server{Handler: http.FileServerFS(files), ReadHeaderTimeout: 10 * time.Second}
	return server.Serve(listener)
}
