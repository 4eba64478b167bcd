package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	mit = `Copyright (c) 2020 Some Body

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`
	gpl = `This program is free software: you can redistribute it and/or modify it under the terms of the GNU General Public License as published by the Free Software Foundation, either version 3 of the License, or (at your option) any later version.

This program is distributed in the hope that it will be useful, but WITHOUT ANY WARRANTY; without even the implied warranty of MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE. See the GNU General Public License for more details.

You should have received a copy of the GNU General Public License along with this program. If not, see <https://www.gnu.org/licenses/>.
`
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		files   map[string]string
		want    string
		wantErr string
	}{
		"a licence": {map[string]string{"LICENSE": mit, "README": "Copyright 1 Readme"},
			"m\n  MIT\n  Copyright (c) 2020 Some Body\n", ""},
		"a notice and a logo": {map[string]string{"COPYING.txt": mit, "NOTICE": "Contains\n\nthings.\n", "LICENSE-LOGO": "Ask the painter.\n"},
			"m\n  MIT\n  Copyright (c) 2020 Some Body\n  | Contains\n  |\n  | things.\n", ""},
		"another licence":       {map[string]string{"LICENSE": gpl}, "", "GPL"},
		"another licence added": {map[string]string{"LICENSE": mit, "LICENSE.data": gpl}, "", "LICENSE.data"},
		"an unknown licence":    {map[string]string{"LICENSE": "Do as you please.\n"}, "", "no file that is a known licence"},
		"no licence":            {map[string]string{"README": mit}, "", "no file that is a known licence"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for file, text := range tc.files {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := describe("m", dir)
			if got != tc.want || (err == nil) != (tc.wantErr == "") || err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("describe() = %q, %v; want %q and an error with %q", got, err, tc.want, tc.wantErr)
			}
		})
	}
}
