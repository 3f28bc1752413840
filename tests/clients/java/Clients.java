import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Runs scenarios of Java packages for tests/clients/sdk_worker.ts, as python/harness.py does for those of Python.
 *
 * A request is a line of JSON on standard input: {row, scenario, address, key, model}. The answer is a line of JSON on
 * standard output: {outcome}, which is `yes` or `no: <why>`. By hand: java Clients ADDRESS KEY [part of a row's name].
 */
public final class Clients {
    /** Where the gateway is, and which model to talk to. */
    record Place(String address, String key, String model) {}

    /** A whole answer. */
    record Answer(String text, long input, long output) {}

    /** The final answer of a turn with a tool, and the thoughts on the way. */
    record Turn(String text, String thoughts) {}

    /** An error as the package shows it. */
    record Shown(String name, int status, String message) {}

    /** Structured answers. */
    public static class Degrees {
        public String city;
        public int degrees;
    }

    /** One way in which a package reaches the gateway. */
    interface Client {
        Answer plain(String prompt) throws Exception;

        List<String> stream(String prompt) throws Exception;

        Turn toolTurn(String prompt, Function<String, String> weather, boolean streams, boolean thinks) throws Exception;

        Degrees structured(String prompt) throws Exception;

        boolean showsThoughts();

        Shown shown(Exception error);
    }

    static final Map<String, Function<Place, Client>> ROWS = new LinkedHashMap<>();

    static {
        ROWS.put("openai chat", OpenAiChat::new);
        ROWS.put("openai responses", OpenAiResponses::new);
        ROWS.put("anthropic", AnthropicMessages::new);
        ROWS.put("java.net.http", PlatformClient::new);
    }

    static final List<String> SCENARIOS =
            List.of("plain", "stream", "tools", "parallel tools", "structured", "reasoning", "error");
    static final String TOOL = "[[tool weather {\"city\":\"Zürich \\\"West\\\"\"}]] How is the weather?";
    static final String PARALLEL =
            "[[tool weather {\"city\":\"Bern\"}]] [[tool weather {\"city\":\"Oslo\"}]] How is the weather?";
    static final List<String> CITY = List.of("Zürich \"West\"");
    static final ObjectMapper JSON = new ObjectMapper();

    static void attempt(Function<Place, Client> row, String scenario, Place place) throws Exception {
        switch (scenario) {
            case "plain" -> plain(row.apply(place));
            case "stream" -> stream(row.apply(place));
            case "tools" -> turns(row.apply(place), TOOL, CITY);
            case "parallel tools" -> turns(row.apply(place), PARALLEL, List.of("Bern", "Oslo"));
            case "structured" -> structured(row.apply(place));
            case "reasoning" -> turn(row.apply(place), TOOL, CITY, true, true);
            case "error" -> errors(row, place);
            default -> throw new IllegalArgumentException("there is no scenario " + scenario);
        }
    }

    static void check(boolean holds, String message) {
        if (!holds) throw new AssertionError(message);
    }

    static void plain(Client client) throws Exception {
        Answer answer = client.plain("one two three four");
        check(answer.equals(new Answer("You said: one two three four", 4, 6)), answer.toString());
    }

    static void stream(Client client) throws Exception {
        List<String> pieces = client.stream("[[words 40]] Grüße");
        String words = IntStream.rangeClosed(1, 40).mapToObj(at -> "word" + at).collect(Collectors.joining(" "));
        check(String.join("", pieces).equals(words), "text: " + String.join("", pieces));
        check(pieces.size() > 10, "came in " + pieces.size() + " pieces");
    }

    static void turns(Client client, String prompt, List<String> cities) throws Exception {
        turn(client, prompt, cities, false, false);
        turn(client, prompt, cities, true, false);
    }

    static void turn(Client client, String prompt, List<String> cities, boolean streams, boolean thinks)
            throws Exception {
        List<String> asked = new ArrayList<>();
        Turn turn = client.toolTurn(
                prompt,
                city -> {
                    asked.add(city);
                    return "sunny in " + city;
                },
                streams,
                thinks);
        check(asked.stream().sorted().toList().equals(cities), "cities asked for: " + asked);
        String text = turn.text().replace("\\\"", "\"");
        for (String city : cities) {
            check(text.contains("The tool weather answered: ") && text.contains("sunny in " + city), text);
        }
        check(!thinks || !client.showsThoughts() || turn.thoughts().contains("think about this"), "thoughts: " + turn);
    }

    static void structured(Client client) throws Exception {
        Degrees degrees = client.structured("Weather in Bern?");
        check(degrees != null && degrees.city != null, "no city");
    }

    static void errors(Function<Place, Client> row, Place place) {
        Place unknown = new Place(place.address(), place.key(), "sandbox/nowhere");
        raises(row.apply(unknown), "one two", new Shown("NotFoundException", 404, "sandbox/nowhere"));
        String refused = "[[fail 400 The pigeons are tired]] hello";
        raises(row.apply(place), refused, new Shown("BadRequestException", 400, "The pigeons are tired"));
        raises(row.apply(place), "[[fail 429 1]] hello", new Shown("RateLimitException", 429, ""));
    }

    static void raises(Client client, String prompt, Shown wanted) {
        Answer answer;
        try {
            answer = client.plain(prompt);
        } catch (Exception error) {
            Shown shown = client.shown(error);
            boolean fits = shown.name().equals(wanted.name())
                    && shown.status() == wanted.status()
                    && shown.message().contains(wanted.message());
            check(fits, shown + " in place of " + wanted);
            return;
        }
        throw new AssertionError("no error where " + wanted.status() + " was expected, but " + answer);
    }

    static String outcomeOf(String row, String scenario, Place place) {
        try {
            attempt(ROWS.get(row), scenario, place);
            return "yes";
        } catch (Throwable error) {
            if (System.getenv("SWITCHYARD_TRACE") != null) error.printStackTrace();
            String name = error instanceof AssertionError ? "" : error.getClass().getSimpleName() + ": ";
            return "no: " + name + error.getMessage();
        }
    }

    public static void main(String[] args) throws Exception {
        if (args.length > 1) {
            byHand(args);
            System.exit(0);
        }
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonNode wanted = JSON.readTree(line);
            Place place = new Place(
                    wanted.get("address").asText(), wanted.get("key").asText(), wanted.get("model").asText());
            String outcome = outcomeOf(wanted.get("row").asText(), wanted.get("scenario").asText(), place);
            System.out.write((JSON.writeValueAsString(Map.of("outcome", outcome)) + "\n").getBytes(StandardCharsets.UTF_8));
            System.out.flush();
        }
        System.exit(0);
    }

    static void byHand(String[] args) {
        for (String row : ROWS.keySet()) {
            if (args.length > 2 && !row.contains(args[2])) continue;
            for (String model : List.of("sandbox/chat-1", "sandbox/messages-1", "sandbox/content-1")) {
                for (String scenario : SCENARIOS) {
                    String outcome = outcomeOf(row, scenario, new Place(args[0], args[1], model));
                    System.out.println(row + ", " + model + ", " + scenario + ": " + outcome);
                }
            }
        }
    }
}
