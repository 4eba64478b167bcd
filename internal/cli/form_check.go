package cli

import (
	"fmt"
	"io"

	"github.com/agent-taskbay/taskbay/form"
)

type formCheck struct {
	JSON       bool   `name:"json" help:"Print the verdict as JSON."`
	Definition string `arg:"" name:"file" help:"File with the definition; - for standard input."`
}

// Help returns what stands below the summary in the command's help.
func (formCheck) Help() string {
	return "Ends with 0 if the form is drawn, 1 if it is rejected, 2 if the file cannot be read as JSON."
}

// Run prints the verdict.
func (c formCheck) Run(s Streams) error {
	raw, err := readInput(c.Definition, s)
	if err != nil {
		return err
	}
	report := form.Inspect(raw)
	if c.JSON {
		err = printJSON(s.Out, report, false)
	} else {
		_, err = io.WriteString(s.Out, verdict(inputName(c.Definition), report, painter(s.Out)))
	}
	if err == nil && !report.Accepted {
		return &failure{code: exitFailed}
	}
	return err
}

// verdict returns the whole report for people.
func verdict(name string, report form.Report, p paint) string {
	if !report.Accepted {
		return fmt.Sprintf("%s: the form is %s; people see plain data and the message box.\n\n", name, p.bad("rejected")) +
			notes("Reasons", report.Reasons, p) + notes("Advice", report.Advice, p)
	}
	text := fmt.Sprintf("%s: the form is %s.\n\n", name, p.good("drawn"))
	if len(report.Advice) == 0 {
		text = fmt.Sprintf("%s: the form is %s, and there is nothing to remark.\n\n", name, p.good("drawn"))
	}
	return text + notes("Advice", report.Advice, p) + drawing(report.Form, p)
}
