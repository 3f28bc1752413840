import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Chat completions over the HTTP client of the platform. Without `version` it offers `Upgrade: h2c`. */
final class PlatformClient implements Clients.Client {
    private final HttpClient client = 
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final Clients.Place place;

    PlatformClient(Clients.Place place) {
        this.place = place;
    }

    /** A refusal, with the body as its message. */
    static final class Refused extends Exception {
        final int status;

        Refused(int status, String body) {
            super(body);
            this.status = status;
        }
    }

    private String post(String prompt, boolean streams) throws Exception {
        ObjectNode body = Clients.JSON.createObjectNode().put("model", place.model()).put("stream", streams);
        body.putArray("messages").addObject().put("role", "user").put("content", prompt);
        HttpRequest request = HttpRequest.newBuilder(URI.create(place.address() + "/v1/chat/completions"))
                .header("Authorization", "Bearer " + place.key())
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body.toString()))
                .build();
        HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != 200) throw new Refused(response.statusCode(), response.body());
        return response.body();
    }

    @Override
    public Clients.Answer plain(String prompt) throws Exception {
        JsonNode reply = Clients.JSON.readTree(post(prompt, false));
        JsonNode usage = reply.get("usage");
        String text = reply.at("/choices/0/message/content").asText();
        return new Clients.Answer(
                text, usage.get("prompt_tokens").asLong(), usage.get("completion_tokens").asLong());
    }

    @Override
    public List<String> stream(String prompt) throws Exception {
        List<String> pieces = new ArrayList<>();
        for (String line : post(prompt, true).split("\n")) {
            if (!line.startsWith("data: {")) continue;
            JsonNode piece = Clients.JSON.readTree(line.substring(6)).at("/choices/0/delta/content");
            if (piece.isTextual() && !piece.asText().isEmpty()) pieces.add(piece.asText());
        }
        return pieces;
    }

    @Override
    public Clients.Turn toolTurn(String prompt, Function<String, String> weather, boolean streams, boolean thinks) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Clients.Degrees structured(String prompt) {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean showsThoughts() {
        return false;
    }

    @Override
    public Clients.Shown shown(Exception error) {
        int status = error instanceof Refused refused ? refused.status : 0;
        String name =
                switch (status) {
                    case 404 -> "NotFoundException";
                    case 400 -> "BadRequestException";
                    case 429 -> "RateLimitException";
                    default -> error.getClass().getSimpleName();
                };
        return new Clients.Shown(name, status, String.valueOf(error.getMessage()));
    }
}
