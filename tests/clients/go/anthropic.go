package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

// messages speaks messages.
type messages struct {
	anthropic.Client
	model string
}

func newMessages(where place) client {
	return &messages{
		anthropic.NewClient(
			option.WithBaseURL(where.Address+"/msgcompat"), option.WithAPIKey(where.Key), option.WithMaxRetries(0),
		),
		where.Model,
	}
}

func (c *messages) showsThoughts() bool { return true }

func (c *messages) shown(err error) shownError {
	var own *anthropic.Error
	if !errors.As(err, &own) {
		return shownError{message: err.Error()}
	}
	return shownError{isOwn: true, status: own.StatusCode, message: err.Error()}
}

func (c *messages) params(prompt string) anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model:     anthropic.Model(c.model),
		MaxTokens: 4000,
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(prompt))},
	}
}

func (c *messages) plain(ctx context.Context, prompt string) (string, int64, int64, error) {
	reply, err := c.Messages.New(ctx, c.params(prompt))
	if err != nil {
		return "", 0, 0, err
	}
	last := reply.Content[len(reply.Content)-1]
	return last.Text, reply.Usage.InputTokens, reply.Usage.OutputTokens, nil
}

func (c *messages) stream(ctx context.Context, prompt string) ([]string, error) {
	var pieces []string
	events := c.Messages.NewStreaming(ctx, c.params(prompt))
	for events.Next() {
		if event := events.Current(); event.Type == "content_block_delta" && event.Delta.Type == "text_delta" {
			pieces = append(pieces, event.Delta.Text)
		}
	}
	return pieces, events.Err()
}

func (c *messages) ask(ctx context.Context, params anthropic.MessageNewParams, streams bool) (*anthropic.Message, error) {
	if !streams {
		return c.Messages.New(ctx, params)
	}
	events := c.Messages.NewStreaming(ctx, params)
	var whole anthropic.Message
	for events.Next() {
		if err := whole.Accumulate(events.Current()); err != nil {
			return nil, err
		}
	}
	return &whole, events.Err()
}

func (c *messages) toolTurn(ctx context.Context, prompt string, weather func(string) string, options turnOptions) (string, string, error) {
	params := c.params(prompt)
	params.Tools = []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
		Name: "weather",
		InputSchema: anthropic.ToolInputSchemaParam{
			Properties: map[string]any{"city": map[string]any{"type": "string"}}, Required: []string{"city"},
		},
	}}}
	if options.thinks {
		params.Thinking = anthropic.ThinkingConfigParamOfEnabled(1024)
	}
	thoughts := ""
	for {
		reply, err := c.ask(ctx, params, options.streams)
		if err != nil {
			return "", "", err
		}
		var results []anthropic.ContentBlockParamUnion
		for _, block := range reply.Content {
			switch block.Type {
			case "thinking":
				thoughts += block.Thinking
			case "tool_use":
				var input struct {
					City string `json:"city"`
				}
				if err := json.Unmarshal(block.Input, &input); err != nil {
					return "", "", err
				}
				results = append(results, anthropic.NewToolResultBlock(block.ID, weather(input.City), false))
			}
		}
		if len(results) == 0 {
			return reply.Content[len(reply.Content)-1].Text, thoughts, nil
		}
		params.Messages = append(params.Messages, reply.ToParam(), anthropic.NewUserMessage(results...))
	}
}

func (c *messages) structured(ctx context.Context, prompt string) (string, error) {
	params := c.params(prompt)
	params.OutputConfig.Format = anthropic.JSONOutputFormatParam{Schema: degreesSchema}
	reply, err := c.Messages.New(ctx, params)
	if err != nil {
		return "", err
	}
	return reply.Content[len(reply.Content)-1].Text, nil
}
