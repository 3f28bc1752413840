package main

import (
	"context"
	"errors"

	"google.golang.org/genai"
)

// content speaks content generation.
type content struct {
	*genai.Client
	model string
}

func newContent(where place) client {
	client, err := genai.NewClient(context.Background(), &genai.ClientConfig{
		APIKey:      where.Key,
		Backend:     genai.BackendGeminiAPI,
		HTTPOptions: genai.HTTPOptions{BaseURL: where.Address + "/gencompat"},
	})
	if err != nil {
		panic(err)
	}
	return &content{client, where.Model}
}

func (c *content) showsThoughts() bool { return true }

func (c *content) shown(err error) shownError {
	var own genai.APIError
	if !errors.As(err, &own) {
		return shownError{message: err.Error()}
	}
	return shownError{isOwn: true, status: own.Code, message: own.Message}
}

func (c *content) plain(ctx context.Context, prompt string) (string, int64, int64, error) {
	reply, err := c.Models.GenerateContent(ctx, c.model, genai.Text(prompt), nil)
	if err != nil {
		return "", 0, 0, err
	}
	usage := reply.UsageMetadata
	return reply.Text(), int64(usage.PromptTokenCount), int64(usage.CandidatesTokenCount), nil
}

func (c *content) stream(ctx context.Context, prompt string) ([]string, error) {
	var pieces []string
	for chunk, err := range c.Models.GenerateContentStream(ctx, c.model, genai.Text(prompt), nil) {
		if err != nil {
			return nil, err
		}
		if text := chunk.Text(); text != "" {
			pieces = append(pieces, text)
		}
	}
	return pieces, nil
}

// toolTurn is a chat, which keeps the history.
func (c *content) toolTurn(ctx context.Context, prompt string, weather func(string) string, options turnOptions) (string, string, error) {
	config := &genai.GenerateContentConfig{Tools: []*genai.Tool{{
		FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "weather", ParametersJsonSchema: cityParameters}},
	}}}
	if options.thinks {
		config.ThinkingConfig = &genai.ThinkingConfig{IncludeThoughts: true, ThinkingBudget: genai.Ptr[int32](1024)}
	}
	chat, err := c.Chats.Create(ctx, c.model, config, nil)
	if err != nil {
		return "", "", err
	}
	message := []*genai.Part{genai.NewPartFromText(prompt)}
	thoughts := ""
	for {
		parts, err := send(ctx, chat, message, options.streams)
		if err != nil {
			return "", "", err
		}
		text := ""
		message = nil
		for _, part := range parts {
			switch {
			case part.FunctionCall != nil:
				call := part.FunctionCall
				answer := genai.NewPartFromFunctionResponse(call.Name, map[string]any{"output": weather(call.Args["city"].(string))})
				answer.FunctionResponse.ID = call.ID
				message = append(message, answer)
			case part.Thought:
				thoughts += part.Text
			default:
				text += part.Text
			}
		}
		if len(message) == 0 {
			return text, thoughts, nil
		}
	}
}

func send(ctx context.Context, chat *genai.Chat, message []*genai.Part, streams bool) ([]*genai.Part, error) {
	if !streams {
		reply, err := chat.Send(ctx, message...)
		if err != nil {
			return nil, err
		}
		return reply.Candidates[0].Content.Parts, nil
	}
	var parts []*genai.Part
	for chunk, err := range chat.SendStream(ctx, message...) {
		if err != nil {
			return nil, err
		}
		if len(chunk.Candidates) > 0 && chunk.Candidates[0].Content != nil {
			parts = append(parts, chunk.Candidates[0].Content.Parts...)
		}
	}
	return parts, nil
}

func (c *content) structured(ctx context.Context, prompt string) (string, error) {
	config := &genai.GenerateContentConfig{ResponseMIMEType: "application/json", ResponseJsonSchema: degreesSchema}
	reply, err := c.Models.GenerateContent(ctx, c.model, genai.Text(prompt), config)
	if err != nil {
		return "", err
	}
	return reply.Text(), nil
}
