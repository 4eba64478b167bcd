package docs_test

import (
	"bytes"
	"context"
	"flag"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
)

var update = flag.Bool("update", false, "take the pictures anew, with Chromium")

const (
	pictureWidth = 1280      // pixels
	pictureSize  = 150 << 10 // bytes, at most
)

// TestPictures holds the pictures to their size, and has one of each for light
// and dark. With -update it first takes them of the product as it is.
func TestPictures(t *testing.T) {
	t.Parallel()
	if *update {
		takePictures(t)
	}
	for _, name := range []string{"deployment-form.png", "deployment-form-dark.png"} {
		raw, err := os.ReadFile(filepath.Join("images", name))
		if err != nil {
			t.Fatal(err)
		}
		config, err := png.DecodeConfig(bytes.NewReader(raw))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if config.Width != pictureWidth || len(raw) > pictureSize {
			t.Errorf("%s is %d pixels wide and has %d bytes, want %d pixels and at most %d bytes", name, config.Width, len(raw), pictureWidth, pictureSize)
		}
	}
}

// takePictures asks the sample agent for a deployment, and takes pictures of the
// form with which it answers.
func takePictures(t *testing.T) {
	t.Helper()
	s := apptest.Start(t, apptest.Options{SampleAgents: true, Version: "(devel)"})
	command := s.Send(s.SampleAgent("form").ID, map[string]string{"text": "Deploy the billing service"})
	s.TaskIn(command.TaskID, "TASK_STATE_INPUT_REQUIRED")

	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("headless", "new"), chromedp.Flag("hide-scrollbars", true))
	allocator, stopAllocator := chromedp.NewExecAllocator(t.Context(), options...)
	defer stopAllocator()
	ctx, stop := chromedp.NewContext(allocator)
	defer stop()
	for scheme, name := range map[string]string{"light": "deployment-form.png", "dark": "deployment-form-dark.png"} {
		picture := takePicture(ctx, t, scheme, s.URL()+"/tasks/"+command.TaskID)
		if err := os.WriteFile(filepath.Join("images", name), picture, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// takePicture takes a picture of a page, from its top to its end.
func takePicture(ctx context.Context, t *testing.T, scheme, url string) []byte {
	t.Helper()
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
		t.Fatal(err)
	}
	do(ctx, t, chromedp.EmulateViewport(pictureWidth, 800), chromedp.Navigate(url))
	const height = `customElements.whenDefined("structured-form").then(() => document.documentElement.scrollHeight)`
	end, err := chromedp.Run(ctx, chromedp.Evaluate[int64](height, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	do(ctx, t, chromedp.EmulateViewport(pictureWidth, end))
	shot, err := chromedp.Call(ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatPng})
	if err != nil {
		t.Fatal(err)
	}
	return shot.Data
}

func do(ctx context.Context, t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}
