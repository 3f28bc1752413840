import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.core.JsonValue;
import com.anthropic.core.http.StreamResponse;
import com.anthropic.errors.AnthropicServiceException;
import com.anthropic.helpers.MessageAccumulator;
import com.anthropic.models.messages.ContentBlock;
import com.anthropic.models.messages.ContentBlockParam;
import com.anthropic.models.messages.Message;
import com.anthropic.models.messages.MessageCreateParams;
import com.anthropic.models.messages.RawMessageStreamEvent;
import com.anthropic.models.messages.ThinkingConfigEnabled;
import com.anthropic.models.messages.Tool;
import com.anthropic.models.messages.ToolResultBlockParam;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** `anthropic-java`: messages. */
final class AnthropicMessages implements Clients.Client {
    private final AnthropicClient client;
    private final Clients.Place place;

    AnthropicMessages(Clients.Place place) {
        this.client = AnthropicOkHttpClient.builder()
                .baseUrl(place.address() + "/msgcompat")
                .apiKey(place.key())
                .maxRetries(0)
                .build();
        this.place = place;
    }

    private MessageCreateParams.Builder params(String prompt) {
        return MessageCreateParams.builder().model(place.model()).maxTokens(4000).addUserMessage(prompt);
    }

    private static String lastText(Message reply) {
        return reply.content().get(reply.content().size() - 1).asText().text();
    }

    @Override
    public Clients.Answer plain(String prompt) {
        Message reply = client.messages().create(params(prompt).build());
        return new Clients.Answer(lastText(reply), reply.usage().inputTokens(), reply.usage().outputTokens());
    }

    @Override
    public List<String> stream(String prompt) {
        List<String> pieces = new ArrayList<>();
        try (StreamResponse<RawMessageStreamEvent> events =
                client.messages().createStreaming(params(prompt).build())) {
            events.stream()
                    .flatMap(event -> event.contentBlockDelta().stream())
                    .flatMap(event -> event.delta().text().stream())
                    .forEach(delta -> pieces.add(delta.text()));
        }
        return pieces;
    }

    private Message ask(MessageCreateParams params, boolean streams) {
        if (!streams) return client.messages().create(params);
        MessageAccumulator whole = MessageAccumulator.create();
        try (StreamResponse<RawMessageStreamEvent> events = client.messages().createStreaming(params)) {
            events.stream().forEach(whole::accumulate);
        }
        return whole.message();
    }

    @Override
    public Clients.Turn toolTurn(String prompt, Function<String, String> weather, boolean streams, boolean thinks) {
        Tool.InputSchema schema = Tool.InputSchema.builder()
                .properties(JsonValue.from(Map.of("city", Map.of("type", "string"))))
                .putAdditionalProperty("required", JsonValue.from(List.of("city")))
                .build();
        MessageCreateParams.Builder params = params(prompt)
                .addTool(Tool.builder().name("weather").description("Tells the weather").inputSchema(schema).build());
        if (thinks) params.thinking(ThinkingConfigEnabled.builder().budgetTokens(1024).build());
        StringBuilder thoughts = new StringBuilder();
        while (true) {
            Message reply = ask(params.build(), streams);
            List<ContentBlockParam> results = new ArrayList<>();
            for (ContentBlock block : reply.content()) {
                block.thinking().ifPresent(thinking -> thoughts.append(thinking.thinking()));
                block.toolUse().ifPresent(call -> {
                    Map<?, ?> input = call._input().convert(Map.class);
                    results.add(ContentBlockParam.ofToolResult(ToolResultBlockParam.builder()
                            .toolUseId(call.id())
                            .content(weather.apply((String) input.get("city")))
                            .build()));
                });
            }
            if (results.isEmpty()) return new Clients.Turn(lastText(reply), thoughts.toString());
            params.addMessage(reply).addUserMessageOfContentBlockParams(results);
        }
    }

    @Override
    public Clients.Degrees structured(String prompt) {
        var params = params(prompt).outputConfig(Clients.Degrees.class).build();
        return client.messages().create(params).content().stream()
                .flatMap(block -> block.text().stream())
                .findFirst()
                .orElseThrow()
                .text();
    }

    @Override
    public boolean showsThoughts() {
        return true;
    }

    @Override
    public Clients.Shown shown(Exception error) {
        int status = error instanceof AnthropicServiceException own ? own.statusCode() : 0;
        return new Clients.Shown(error.getClass().getSimpleName(), status, String.valueOf(error.getMessage()));
    }
}
