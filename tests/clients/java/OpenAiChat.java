import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.JsonValue;
import com.openai.core.http.StreamResponse;
import com.openai.errors.OpenAIServiceException;
import com.openai.helpers.ChatCompletionAccumulator;
import com.openai.models.FunctionDefinition;
import com.openai.models.FunctionParameters;
import com.openai.models.ReasoningEffort;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionMessage;
import com.openai.models.chat.completions.ChatCompletionMessageToolCall;
import com.openai.models.chat.completions.ChatCompletionToolMessageParam;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** `openai-java`: chat completions. */
final class OpenAiChat implements Clients.Client {
    static final Map<String, Object> CITY = Map.of(
            "type", "object",
            "properties", Map.of("city", Map.of("type", "string")),
            "required", List.of("city"),
            "additionalProperties", false);

    private final OpenAIClient client;
    private final Clients.Place place;

    OpenAiChat(Clients.Place place) {
        this.client = open(place);
        this.place = place;
    }

    static OpenAIClient open(Clients.Place place) {
        return OpenAIOkHttpClient.builder()
                .baseUrl(place.address() + "/v1")
                .apiKey(place.key())
                .maxRetries(0)
                .build();
    }

    static Clients.Shown shownError(Exception error) {
        int status = error instanceof OpenAIServiceException own ? own.statusCode() : 0;
        return new Clients.Shown(error.getClass().getSimpleName(), status, String.valueOf(error.getMessage()));
    }

    static String cityIn(String arguments) {
        try {
            return Clients.JSON.readTree(arguments).get("city").asText();
        } catch (java.io.IOException error) {
            throw new IllegalStateException(arguments, error);
        }
    }

    private ChatCompletionCreateParams.Builder params(String prompt) {
        return ChatCompletionCreateParams.builder().model(place.model()).addUserMessage(prompt);
    }

    @Override
    public Clients.Answer plain(String prompt) {
        ChatCompletion reply = client.chat().completions().create(params(prompt).build());
        var usage = reply.usage().orElseThrow();
        String text = reply.choices().get(0).message().content().orElseThrow();
        return new Clients.Answer(text, usage.promptTokens(), usage.completionTokens());
    }

    @Override
    public List<String> stream(String prompt) {
        List<String> pieces = new ArrayList<>();
        try (StreamResponse<ChatCompletionChunk> chunks =
                client.chat().completions().createStreaming(params(prompt).build())) {
            chunks.stream()
                    .flatMap(chunk -> chunk.choices().stream())
                    .flatMap(choice -> choice.delta().content().stream())
                    .filter(piece -> !piece.isEmpty())
                    .forEach(pieces::add);
        }
        return pieces;
    }

    private ChatCompletion ask(ChatCompletionCreateParams params, boolean streams) {
        if (!streams) return client.chat().completions().create(params);
        ChatCompletionAccumulator whole = ChatCompletionAccumulator.create();
        try (StreamResponse<ChatCompletionChunk> chunks = client.chat().completions().createStreaming(params)) {
            chunks.stream().forEach(whole::accumulate);
        }
        return whole.chatCompletion();
    }

    @Override
    public Clients.Turn toolTurn(String prompt, Function<String, String> weather, boolean streams, boolean thinks) {
        FunctionParameters.Builder parameters = FunctionParameters.builder();
        CITY.forEach((name, value) -> parameters.putAdditionalProperty(name, JsonValue.from(value)));
        ChatCompletionCreateParams.Builder params = params(prompt)
                .addFunctionTool(FunctionDefinition.builder()
                        .name("weather")
                        .parameters(parameters.build())
                        .strict(true)
                        .build());
        if (thinks) params.reasoningEffort(ReasoningEffort.HIGH);
        while (true) {
            ChatCompletionMessage message = ask(params.build(), streams).choices().get(0).message();
            List<ChatCompletionMessageToolCall> calls = message.toolCalls().orElse(List.of());
            if (calls.isEmpty()) return new Clients.Turn(message.content().orElse(""), "");
            params.addMessage(message);
            for (ChatCompletionMessageToolCall call : calls) {
                String city = cityIn(call.asFunction().function().arguments());
                params.addMessage(ChatCompletionToolMessageParam.builder()
                        .toolCallId(call.asFunction().id())
                        .content(weather.apply(city))
                        .build());
            }
        }
    }

    @Override
    public Clients.Degrees structured(String prompt) {
        var params = params(prompt).responseFormat(Clients.Degrees.class).build();
        return client.chat().completions().create(params).choices().get(0).message().content().orElseThrow();
    }

    @Override
    public boolean showsThoughts() {
        return false;
    }

    @Override
    public Clients.Shown shown(Exception error) {
        return shownError(error);
    }
}
