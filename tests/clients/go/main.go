// Runs scenarios of Go packages for tests/clients/sdk_worker.ts, as python/harness.py does for those of Python.
//
// A request is a line of JSON on standard input: {row, scenario, address, key, model}. The answer is a line of JSON on
// standard output: {outcome}, which is `yes` or `no: <why>`. By hand: go run . ADDRESS KEY [part of a row's name].
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

const (
	plainPrompt      = "one two three four"
	streamPrompt     = "[[words 40]] Grüße"
	toolPrompt       = `[[tool weather {"city":"Zürich \"West\""}]] How is the weather?`
	parallelPrompt   = `[[tool weather {"city":"Bern"}]] [[tool weather {"city":"Oslo"}]] How is the weather?`
	structuredPrompt = "Weather in Bern?"
	unknownModel     = "sandbox/nowhere"
	refusedPrompt    = "[[fail 400 The pigeons are tired]] hello"
	limitedPrompt    = "[[fail 429 1]] hello"
	maxScenarioTime  = 60 * time.Second
)

var scenarios = []string{"plain", "stream", "tools", "parallel tools", "structured", "reasoning", "error"}

// place is where the gateway is, and which model to talk to.
type place struct {
	Address string `json:"address"`
	Key     string `json:"key"`
	Model   string `json:"model"`
}

// shownError is an error as the package shows it.
type shownError struct {
	isOwn   bool
	status  int
	message string
}

// turnOptions are how a turn with a tool is asked.
type turnOptions struct {
	streams, thinks bool
}

// client is one way in which a package reaches the gateway.
type client interface {
	// plain returns the text of an answer and its tokens in and out.
	plain(ctx context.Context, prompt string) (string, int64, int64, error)
	// stream returns the pieces of text in order.
	stream(ctx context.Context, prompt string) ([]string, error)
	// toolTurn lets the model call the tool, and returns the final answer and the thoughts.
	toolTurn(ctx context.Context, prompt string, weather func(city string) string, options turnOptions) (string, string, error)
	// structured returns the JSON of an object with a city and degrees.
	structured(ctx context.Context, prompt string) (string, error)
	showsThoughts() bool
	shown(err error) shownError
}

var rows = map[string]func(place) client{
	"openai chat":      newChat,
	"openai responses": newResponses,
	"anthropic":        newMessages,
	"genai":            newContent,
}

var rowNames = []string{"openai chat", "openai responses", "anthropic", "genai"}

func attempt(open func(place) client, scenario string, where place) error {
	ctx, cancel := context.WithTimeout(context.Background(), maxScenarioTime)
	defer cancel()
	switch scenario {
	case "plain":
		return tryPlain(ctx, open(where))
	case "stream":
		return tryStream(ctx, open(where))
	case "tools":
		return tryTools(ctx, open(where), toolPrompt, []string{`Zürich "West"`})
	case "parallel tools":
		return tryTools(ctx, open(where), parallelPrompt, []string{"Bern", "Oslo"})
	case "structured":
		return tryStructured(ctx, open(where))
	case "reasoning":
		return tryTurn(ctx, open(where), toolPrompt, []string{`Zürich "West"`}, turnOptions{streams: true, thinks: true})
	case "error":
		return tryErrors(ctx, open, where)
	}
	return fmt.Errorf("there is no scenario %q", scenario)
}

func tryPlain(ctx context.Context, c client) error {
	text, input, output, err := c.plain(ctx, plainPrompt)
	if err != nil {
		return err
	}
	if text != "You said: "+plainPrompt {
		return fmt.Errorf("text: %q", text)
	}
	if input != 4 || output != 6 {
		return fmt.Errorf("tokens: %d and %d in place of 4 and 6", input, output)
	}
	return nil
}

func tryStream(ctx context.Context, c client) error {
	pieces, err := c.stream(ctx, streamPrompt)
	if err != nil {
		return err
	}
	words := make([]string, 40)
	for at := range words {
		words[at] = fmt.Sprintf("word%d", at+1)
	}
	if text := strings.Join(pieces, ""); text != strings.Join(words, " ") {
		return fmt.Errorf("text: %q", text)
	}
	if len(pieces) <= 10 {
		return fmt.Errorf("came in %d pieces", len(pieces))
	}
	return nil
}

func tryTools(ctx context.Context, c client, prompt string, cities []string) error {
	if err := tryTurn(ctx, c, prompt, cities, turnOptions{}); err != nil {
		return err
	}
	return tryTurn(ctx, c, prompt, cities, turnOptions{streams: true})
}

func tryTurn(ctx context.Context, c client, prompt string, cities []string, options turnOptions) error {
	var asked []string
	weather := func(city string) string {
		asked = append(asked, city)
		return "sunny in " + city
	}
	text, thoughts, err := c.toolTurn(ctx, prompt, weather, options)
	if err != nil {
		return err
	}
	slices.Sort(asked)
	if !slices.Equal(asked, cities) {
		return fmt.Errorf("cities asked for: %q in place of %q", asked, cities)
	}
	plain := strings.ReplaceAll(text, `\"`, `"`)
	for _, city := range cities {
		if !strings.Contains(text, "The tool weather answered: ") || !strings.Contains(plain, "sunny in "+city) {
			return fmt.Errorf("final answer %q", text)
		}
	}
	if options.thinks && c.showsThoughts() && !strings.Contains(thoughts, "think about this") {
		return fmt.Errorf("thoughts %q", thoughts)
	}
	return nil
}

func tryStructured(ctx context.Context, c client) error {
	text, err := c.structured(ctx, structuredPrompt)
	if err != nil {
		return err
	}
	var value struct {
		City    *string `json:"city"`
		Degrees *int    `json:"degrees"`
	}
	if err := json.Unmarshal([]byte(text), &value); err != nil || value.City == nil || value.Degrees == nil {
		return fmt.Errorf("no city and degrees in %s", text)
	}
	return nil
}

func tryErrors(ctx context.Context, open func(place) client, where place) error {
	unknown := where
	unknown.Model = unknownModel
	cases := []struct {
		where        place
		prompt, part string
		status       int
	}{
		{unknown, plainPrompt, unknownModel, 404},
		{where, refusedPrompt, "The pigeons are tired", 400},
		{where, limitedPrompt, "", 429},
	}
	for _, wanted := range cases {
		c := open(wanted.where)
		text, _, _, err := c.plain(ctx, wanted.prompt)
		if err == nil {
			return fmt.Errorf("no error where %d was expected, but %q", wanted.status, text)
		}
		shown := c.shown(err)
		if !shown.isOwn || shown.status != wanted.status || !strings.Contains(shown.message, wanted.part) {
			return fmt.Errorf("error %T, status %d in place of %d: %s", err, shown.status, wanted.status, shown.message)
		}
	}
	return nil
}

func outcomeOf(row, scenario string, where place) string {
	open, isKnown := rows[row]
	if !isKnown {
		return "no: there is no such row"
	}
	if err := attempt(open, scenario, where); err != nil {
		return "no: " + err.Error()
	}
	return "yes"
}

func main() {
	if len(os.Args) > 2 {
		byHand(place{Address: os.Args[1], Key: os.Args[2]}, strings.Join(os.Args[3:], " "))
		return
	}
	answers := json.NewEncoder(os.Stdout)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var request struct {
			place
			Row      string `json:"row"`
			Scenario string `json:"scenario"`
		}
		if err := json.Unmarshal(lines.Bytes(), &request); err != nil {
			panic(err)
		}
		outcome := outcomeOf(request.Row, request.Scenario, request.place)
		if err := answers.Encode(map[string]string{"outcome": outcome}); err != nil {
			panic(err)
		}
	}
}

func byHand(where place, part string) {
	for _, row := range rowNames {
		if !strings.Contains(row, part) {
			continue
		}
		for _, where.Model = range []string{"sandbox/chat-1", "sandbox/messages-1", "sandbox/content-1"} {
			for _, scenario := range scenarios {
				fmt.Printf("%s, %s, %s: %s\n", row, where.Model, scenario, outcomeOf(row, scenario, where))
			}
		}
	}
}
