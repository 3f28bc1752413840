// A chat completion through Switchyard with the standard library: first whole, then streamed.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

// chunk has the fields that this program reads of a reply or of one event of a stream.
type chunk struct {
	Choices []struct {
		Message struct{ Content string }
		Delta   struct{ Content string }
	}
	Usage *struct {
		TotalTokens int `json:"total_tokens"`
	}
}

func main() {
	whole, err := post(request(false))
	if err != nil {
		log.Fatal(err)
	}
	defer whole.Close()
	var reply chunk
	if err := json.NewDecoder(whole).Decode(&reply); err != nil {
		log.Fatal(err)
	}
	fmt.Println("Whole:", reply.Choices[0].Message.Content)

	stream, err := post(request(true))
	if err != nil {
		log.Fatal(err)
	}
	defer stream.Close()
	text, tokens, err := readStream(stream)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("Streamed:", text)
	fmt.Println("Tokens:", tokens)
}

func request(stream bool) map[string]any {
	body := map[string]any{
		"model":    env("SWITCHYARD_MODEL", "sandbox/chat-1"),
		"messages": []map[string]string{{"role": "user", "content": "Say hello"}},
	}
	if stream {
		body["stream"] = true
		body["stream_options"] = map[string]bool{"include_usage": true}
	}
	return body
}

// post sends the body as JSON and returns the body of the answer, which the caller closes.
func post(body map[string]any) (io.ReadCloser, error) {
	encoded, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	url := env("SWITCHYARD_ADDRESS", "http://127.0.0.1:8787") + "/v1/chat/completions"
	request, err := http.NewRequest("POST", url, bytes.NewReader(encoded))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("SWITCHYARD_KEY"))
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		message, _ := io.ReadAll(response.Body)
		return nil, fmt.Errorf("%s: %s", response.Status, message)
	}
	return response.Body, nil
}

// readStream joins the text of a stream: lines of "data: {…}", separated by empty lines, up to "data: [DONE]".
func readStream(body io.Reader) (text string, tokens int, err error) {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, isData := strings.CutPrefix(lines.Text(), "data: ")
		if !isData || data == "[DONE]" {
			continue
		}
		var event chunk
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			return text, tokens, err
		}
		for _, choice := range event.Choices {
			text += choice.Delta.Content
		}
		if event.Usage != nil {
			tokens = event.Usage.TotalTokens
		}
	}
	return text, tokens, lines.Err()
}

func env(name, fallback string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return fallback
}
