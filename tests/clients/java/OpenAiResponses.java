import com.openai.client.OpenAIClient;
import com.openai.core.JsonValue;
import com.openai.core.http.StreamResponse;
import com.openai.helpers.ResponseAccumulator;
import com.openai.models.Reasoning;
import com.openai.models.ReasoningEffort;
import com.openai.models.responses.EasyInputMessage;
import com.openai.models.responses.FunctionTool;
import com.openai.models.responses.Response;
import com.openai.models.responses.ResponseCreateParams;
import com.openai.models.responses.ResponseFunctionToolCall;
import com.openai.models.responses.ResponseIncludable;
import com.openai.models.responses.ResponseInputItem;
import com.openai.models.responses.ResponseOutputItem;
import com.openai.models.responses.ResponseStreamEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/** `openai-java`: responses. */
final class OpenAiResponses implements Clients.Client {
    private final OpenAIClient client;
    private final Clients.Place place;

    OpenAiResponses(Clients.Place place) {
        this.client = OpenAiChat.open(place);
        this.place = place;
    }

    private ResponseCreateParams.Builder params(String prompt) {
        return ResponseCreateParams.builder().model(place.model()).input(prompt);
    }

    private static String textOf(Response reply) {
        return reply.output().stream()
                .filter(ResponseOutputItem::isMessage)
                .flatMap(item -> item.asMessage().content().stream())
                .flatMap(part -> part.outputText().stream())
                .map(text -> text.text())
                .collect(Collectors.joining());
    }

    @Override
    public Clients.Answer plain(String prompt) {
        Response reply = client.responses().create(params(prompt).build());
        var usage = reply.usage().orElseThrow();
        return new Clients.Answer(textOf(reply), usage.inputTokens(), usage.outputTokens());
    }

    @Override
    public List<String> stream(String prompt) {
        List<String> pieces = new ArrayList<>();
        try (StreamResponse<ResponseStreamEvent> events =
                client.responses().createStreaming(params(prompt).build())) {
            events.stream().flatMap(event -> event.outputTextDelta().stream()).forEach(event -> pieces.add(event.delta()));
        }
        return pieces;
    }

    private Response ask(ResponseCreateParams params, boolean streams) {
        if (!streams) return client.responses().create(params);
        ResponseAccumulator whole = ResponseAccumulator.create();
        try (StreamResponse<ResponseStreamEvent> events = client.responses().createStreaming(params)) {
            events.stream().forEach(whole::accumulate);
        }
        return whole.response();
    }

    @Override
    public Clients.Turn toolTurn(String prompt, Function<String, String> weather, boolean streams, boolean thinks) {
        FunctionTool.Parameters.Builder parameters = FunctionTool.Parameters.builder();
        OpenAiChat.CITY.forEach((name, value) -> parameters.putAdditionalProperty(name, JsonValue.from(value)));
        ResponseCreateParams.Builder params = params(prompt)
                .store(false)
                .include(List.of(ResponseIncludable.REASONING_ENCRYPTED_CONTENT))
                .addTool(FunctionTool.builder()
                        .name("weather")
                        .parameters(parameters.build())
                        .strict(true)
                        .build());
        if (thinks) {
            params.reasoning(Reasoning.builder()
                    .effort(ReasoningEffort.HIGH)
                    .summary(Reasoning.Summary.DETAILED)
                    .build());
        }
        List<ResponseInputItem> items = new ArrayList<>();
        items.add(ResponseInputItem.ofEasyInputMessage(
                EasyInputMessage.builder().role(EasyInputMessage.Role.USER).content(prompt).build()));
        StringBuilder thoughts = new StringBuilder();
        while (true) {
            params.input(ResponseCreateParams.Input.ofResponse(items));
            Response reply = ask(params.build(), streams);
            List<ResponseInputItem> outputs = new ArrayList<>();
            for (ResponseOutputItem item : reply.output()) {
                if (item.isReasoning()) {
                    item.asReasoning().summary().forEach(part -> thoughts.append(part.text()));
                    items.add(ResponseInputItem.ofReasoning(item.asReasoning()));
                }
                if (!item.isFunctionCall()) continue;
                ResponseFunctionToolCall call = item.asFunctionCall();
                items.add(ResponseInputItem.ofFunctionCall(call));
                outputs.add(ResponseInputItem.ofFunctionCallOutput(ResponseInputItem.FunctionCallOutput.builder()
                        .callId(call.callId())
                        .output(weather.apply(OpenAiChat.cityIn(call.arguments())))
                        .build()));
            }
            if (outputs.isEmpty()) return new Clients.Turn(textOf(reply), thoughts.toString());
            items.addAll(outputs);
        }
    }

    @Override
    public Clients.Degrees structured(String prompt) {
        var params = params(prompt).text(Clients.Degrees.class).build();
        return client.responses().create(params).output().stream()
                .flatMap(item -> item.message().stream())
                .flatMap(message -> message.content().stream())
                .flatMap(part -> part.outputText().stream())
                .findFirst()
                .orElseThrow();
    }

    @Override
    public boolean showsThoughts() {
        return true;
    }

    @Override
    public Clients.Shown shown(Exception error) {
        return OpenAiChat.shownError(error);
    }
}
