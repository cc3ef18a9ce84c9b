import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;

/**
 * A fresh world of a running payout sandbox: what one key sees. The JDK and nothing else; answers are JSON texts, which your own
 * JSON library reads better than {@link #numberIn}. {@code java SandboxWorld.java} plays a payout whose response is lost.
 */
public final class SandboxWorld {
  public static final String URL = Optional.ofNullable(System.getenv("PAYOUT_URL")).orElse("http://127.0.0.1:3000");
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  public final String apiKey = "sk_test_" + UUID.randomUUID();

  /** The payout API, as your client would ask it; give up after {@code timeout}. */
  public HttpResponse<String> ask(String method, String path, String body, Duration timeout) throws IOException, InterruptedException {
    return HTTP.send(
        HttpRequest.newBuilder(URI.create(URL + path))
            .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
            .header("Authorization", "Bearer " + apiKey)
            .header("Content-Type", "application/json")
            .timeout(timeout)
            .build(),
        BodyHandlers.ofString());
  }

  /** One call of the control API, say {@code control("POST", "/clock/advance", "{\"by\":\"2h\"}")}. */
  public String control(String method, String path, String body) throws IOException, InterruptedException {
    HttpResponse<String> answer = ask(method, "/_sandbox" + path, body, Duration.ofSeconds(10));
    if (answer.statusCode() >= 300) throw new IllegalStateException(method + " " + path + ": " + answer.statusCode() + " " + answer.body());
    return answer.body();
  }

  public void freeze() throws IOException, InterruptedException {
    control("POST", "/clock/freeze", null);
  }

  /** Moves the clock; the response lists what happened meanwhile. */
  public String advance(String by) throws IOException, InterruptedException {
    return control("POST", "/clock/advance", "{\"by\":\"" + by + "\"}");
  }

  public void rule(String json) throws IOException, InterruptedException {
    control("POST", "/rules", json);
  }

  /** Asks the journal. The message says what came closest. */
  public void verify(String json) throws IOException, InterruptedException {
    String answer = control("POST", "/requests/verify", json);
    if (!answer.startsWith("{\"passed\":true")) throw new AssertionError(answer);
  }

  /**
   * Asks the referee how the client, which must be done, behaved. Fails for an error or a warning, if the client sent nothing, and
   * if {@code paid-twice} is inconclusive in spite of an intent. The message is the report.
   */
  public void expectGoodConduct(String settings) throws IOException, InterruptedException {
    control("PUT", "/referee", settings);
    if (control("GET", "/requests?limit=1", null).contains("\"requests\":[]"))
      throw new AssertionError("the client sent no request with this key");
    String report = control("GET", "/referee?ended=true", null);
    boolean isBlind = settings.contains("\"intent\"") && report.contains("\"id\":\"paid-twice\",\"verdict\":\"inconclusive\"");
    if (report.contains("\"passed\":true") && numberIn(report, "warning") == 0 && !isBlind) return;
    throw new AssertionError(control("GET", "/referee?format=text&ended=true", null));
  }

  public double balance() throws IOException, InterruptedException {
    return numberIn(control("GET", "/wallet", null), "balance");
  }

  static double numberIn(String json, String field) {
    return Double.parseDouble(json.replaceFirst("(?s)^.*?\"" + field + "\":(-?[0-9.]+).*$", "$1"));
  }

  public static void main(String[] args) throws Exception {
    SandboxWorld world = new SandboxWorld();
    world.freeze();
    world.rule("""
        {"name": "lost-response", "match": {"route": "initiate", "attempt": 1}, "effect": {"commit": true, "fault": "hang"}}""");
    HttpResponse<String> paid = new PayoutClient(world).pay("order-1", 1500.50);
    System.out.println("replayed " + paid.headers().firstValue("Idempotent-Replayed").orElse("false"));
    world.verify("""
        {"sequence": [{"fault": "hang", "committed": true}, {"status": 200, "replayed": true}]}""");
    System.out.println("balance " + world.balance());
    System.out.println("settled " + world.advance("2s").contains("\"to\":\"SUCCESS\""));
  }
}

/**
 * The payout client under test: a stand-in for yours. It sends the same reference again while the outcome is unknown, since that
 * cannot pay twice; when it does not help, it asks.
 */
final class PayoutClient {
  private static final Duration TIMEOUT = Duration.ofSeconds(2);
  private final SandboxWorld world;

  PayoutClient(SandboxWorld world) {
    this.world = world;
  }

  HttpResponse<String> pay(String reference, double amount) throws IOException, InterruptedException {
    String body =
        String.format(
            Locale.ROOT, // other locales write amounts with a comma, or with digits that JSON does not allow
            """
            {"client_ref_id": "%s", "beneficiary_name": "Asha Rao", "beneficiary_account": "000123456789",
             "beneficiary_ifsc": "SBIN0000001", "amount": %.2f, "transfer_mode": "IMPS"}""",
            reference,
            amount);
    for (int attempt = 0; attempt < 3; attempt++) {
      try {
        HttpResponse<String> answer = world.ask("POST", "/payout/initiate", body, TIMEOUT);
        if (answer.statusCode() < 500) return answer;
        if (answer.headers().firstValue("Retry-After").isPresent()) break;
      } catch (IOException noResponse) { // a timeout is one too: the payout may have happened or not
      }
      Thread.sleep(100L << attempt);
    }
    return read(reference);
  }

  String status(String reference) throws IOException, InterruptedException {
    return read(reference).body().replaceFirst("(?s)^.*\"data\":\\{.*?\"status\":\"([A-Z]+)\".*$", "$1");
  }

  private HttpResponse<String> read(String reference) throws IOException, InterruptedException {
    return world.ask("GET", "/payout/status?client_ref_id=" + reference, null, TIMEOUT);
  }
}
