package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

var cityParameters = map[string]any{
	"type":                 "object",
	"properties":           map[string]any{"city": map[string]any{"type": "string"}},
	"required":             []string{"city"},
	"additionalProperties": false,
}

var degreesSchema = map[string]any{
	"type": "object",
	"properties": map[string]any{
		"city":    map[string]any{"type": "string"},
		"degrees": map[string]any{"type": "integer"},
	},
	"required":             []string{"city", "degrees"},
	"additionalProperties": false,
}

func openAI(where place) openai.Client {
	return openai.NewClient(
		option.WithBaseURL(where.Address+"/v1"), option.WithAPIKey(where.Key), option.WithMaxRetries(0),
	)
}

func openAIError(err error) shownError {
	var own *openai.Error
	if !errors.As(err, &own) {
		return shownError{message: err.Error()}
	}
	return shownError{isOwn: true, status: own.StatusCode, message: own.Message}
}

func cityIn(arguments string) (string, error) {
	var input struct {
		City string `json:"city"`
	}
	err := json.Unmarshal([]byte(arguments), &input)
	return input.City, err
}

// chat speaks chat completions.
type chat struct {
	openai.Client
	model string
}

func newChat(where place) client { return &chat{openAI(where), where.Model} }

func (c *chat) showsThoughts() bool        { return false }
func (c *chat) shown(err error) shownError { return openAIError(err) }

func (c *chat) params(prompt string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:    c.model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(prompt)},
	}
}

func (c *chat) plain(ctx context.Context, prompt string) (string, int64, int64, error) {
	reply, err := c.Chat.Completions.New(ctx, c.params(prompt))
	if err != nil {
		return "", 0, 0, err
	}
	return reply.Choices[0].Message.Content, reply.Usage.PromptTokens, reply.Usage.CompletionTokens, nil
}

func (c *chat) stream(ctx context.Context, prompt string) ([]string, error) {
	var pieces []string
	chunks := c.Chat.Completions.NewStreaming(ctx, c.params(prompt))
	for chunks.Next() {
		for _, choice := range chunks.Current().Choices {
			if choice.Delta.Content != "" {
				pieces = append(pieces, choice.Delta.Content)
			}
		}
	}
	return pieces, chunks.Err()
}

func (c *chat) ask(ctx context.Context, params openai.ChatCompletionNewParams, streams bool) (*openai.ChatCompletion, error) {
	if !streams {
		return c.Chat.Completions.New(ctx, params)
	}
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	chunks := c.Chat.Completions.NewStreaming(ctx, params)
	var whole openai.ChatCompletionAccumulator
	for chunks.Next() {
		if !whole.AddChunk(chunks.Current()) {
			return nil, errors.New("a chunk does not fit to those before it")
		}
	}
	return &whole.ChatCompletion, chunks.Err()
}

func (c *chat) toolTurn(ctx context.Context, prompt string, weather func(string) string, options turnOptions) (string, string, error) {
	params := c.params(prompt)
	params.Tools = []openai.ChatCompletionToolUnionParam{
		openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: "weather", Parameters: cityParameters}),
	}
	if options.thinks {
		params.ReasoningEffort = shared.ReasoningEffortHigh
	}
	for {
		reply, err := c.ask(ctx, params, options.streams)
		if err != nil {
			return "", "", err
		}
		message := reply.Choices[0].Message
		if len(message.ToolCalls) == 0 {
			return message.Content, "", nil
		}
		params.Messages = append(params.Messages, message.ToParam())
		for _, call := range message.ToolCalls {
			city, err := cityIn(call.Function.Arguments)
			if err != nil {
				return "", "", err
			}
			params.Messages = append(params.Messages, openai.ToolMessage(weather(city), call.ID))
		}
	}
}

func (c *chat) structured(ctx context.Context, prompt string) (string, error) {
	params := c.params(prompt)
	params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
		JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
			Name: "weather", Strict: openai.Bool(true), Schema: degreesSchema,
		},
	}
	reply, err := c.Chat.Completions.New(ctx, params)
	if err != nil {
		return "", err
	}
	return reply.Choices[0].Message.Content, nil
}

// response speaks responses.
type response struct {
	openai.Client
	model string
}

func newResponses(where place) client { return &response{openAI(where), where.Model} }

func (c *response) showsThoughts() bool        { return true }
func (c *response) shown(err error) shownError { return openAIError(err) }

func (c *response) params(prompt string) responses.ResponseNewParams {
	return responses.ResponseNewParams{
		Model: c.model, Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(prompt)},
	}
}

func (c *response) plain(ctx context.Context, prompt string) (string, int64, int64, error) {
	reply, err := c.Responses.New(ctx, c.params(prompt))
	if err != nil {
		return "", 0, 0, err
	}
	return reply.OutputText(), reply.Usage.InputTokens, reply.Usage.OutputTokens, nil
}

func (c *response) stream(ctx context.Context, prompt string) ([]string, error) {
	var pieces []string
	events := c.Responses.NewStreaming(ctx, c.params(prompt))
	for events.Next() {
		if event := events.Current(); event.Type == "response.output_text.delta" {
			pieces = append(pieces, event.Delta)
		}
	}
	return pieces, events.Err()
}

func (c *response) ask(ctx context.Context, params responses.ResponseNewParams, streams bool) (*responses.Response, error) {
	if !streams {
		return c.Responses.New(ctx, params)
	}
	events := c.Responses.NewStreaming(ctx, params)
	var last *responses.Response
	for events.Next() {
		if event := events.Current(); event.Type == "response.completed" {
			last = &event.Response
		}
	}
	if last == nil && events.Err() == nil {
		return nil, errors.New("the stream ended without response.completed")
	}
	return last, events.Err()
}

func (c *response) toolTurn(ctx context.Context, prompt string, weather func(string) string, options turnOptions) (string, string, error) {
	items := []responses.ResponseInputItemUnionParam{
		responses.ResponseInputItemParamOfMessage(prompt, responses.EasyInputMessageRoleUser),
	}
	params := c.params(prompt)
	params.Store = openai.Bool(false)
	params.Include = []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent}
	params.Tools = []responses.ToolUnionParam{
		{OfFunction: &responses.FunctionToolParam{Name: "weather", Parameters: cityParameters, Strict: openai.Bool(true)}},
	}
	if options.thinks {
		params.Reasoning = shared.ReasoningParam{
			Effort: shared.ReasoningEffortHigh, Summary: shared.ReasoningSummaryDetailed,
		}
	}
	thoughts := ""
	for {
		params.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: items}
		reply, err := c.ask(ctx, params, options.streams)
		if err != nil {
			return "", "", err
		}
		var outputs []responses.ResponseInputItemUnionParam
		for _, item := range reply.Output {
			switch item.Type {
			case "reasoning":
				reasoning := item.AsReasoning()
				for _, part := range reasoning.Summary {
					thoughts += part.Text
				}
				param := reasoning.ToParam()
				items = append(items, responses.ResponseInputItemUnionParam{OfReasoning: &param})
			case "function_call":
				call := item.AsFunctionCall()
				city, err := cityIn(call.Arguments)
				if err != nil {
					return "", "", err
				}
				param := call.ToParam()
				items = append(items, responses.ResponseInputItemUnionParam{OfFunctionCall: &param})
				output := responses.ResponseInputItemParamOfFunctionCallOutput(weather(city))
				output.OfFunctionCallOutput.CallID = openai.String(call.CallID)
				outputs = append(outputs, output)
			}
		}
		if len(outputs) == 0 {
			return reply.OutputText(), thoughts, nil
		}
		items = append(items, outputs...)
	}
}

func (c *response) structured(ctx context.Context, prompt string) (string, error) {
	params := c.params(prompt)
	params.Text.Format = responses.ResponseFormatTextConfigUnionParam{
		OfJSONSchema: &responses.ResponseFormatTextJSONSchemaConfigParam{Name: "weather", Schema: degreesSchema},
	}
	reply, err := c.Responses.New(ctx, params)
	if err != nil {
		return "", err
	}
	return reply.OutputText(), nil
}
