// Package formview draws structured forms for a browser: the open form of a
// question or of a start, the read-only form that was answered, and the page on
// which an author checks a definition. It reads what a plain POST of such a form
// carries. Everything works without JavaScript; the modules in static/form make
// it pleasant.
//
// # Posting
//
// An open form posts to Open.Action, URL-encoded, with "question", "key", and a
// value for each control: a text as typed, "on" for a box, and the index of the
// chosen option, "" for no choice. ReadPost reads it. With JavaScript the same
// body is sent with "Accept: application/json", and the answer decides what the
// person sees:
//
//	2xx  sent; a JSON member "location" that names another page is gone to
//	409  a problem document; its detail says who answered or what ended
//	404  the same, for what does not exist or may not be seen
//	422  a problem document with errors: [{location: field key, message}]
//	else it could not be sent; a problem document's detail is shown
//
// Nothing that was typed is lost in any of these cases.
//
// # Live pages
//
// An open form is one <structured-form> element whose id names the task, the
// question and the definition. A page that updates itself leaves an element
// alone whose id is in the new markup as well. When the question has gone it calls
// the element's close(reason) instead of removing it: a form with something typed
// in it stays, closed, with its text to be copied and the reason shown, and close
// returns true; any other returns false and may be removed. While its answer is on
// its way close returns true as well; once that was taken the form goes by itself,
// with the nearest element around it that has data-gone. Without JavaScript a
// closed form is drawn with Open.Closed.
package formview
