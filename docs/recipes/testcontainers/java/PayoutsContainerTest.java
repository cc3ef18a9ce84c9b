import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.junit.jupiter.Container;
import org.testcontainers.junit.jupiter.Testcontainers;

@Testcontainers
class PayoutsContainerTest {
  @Container
  private static final GenericContainer<?> SANDBOX =
      new GenericContainer<>("payout-sandbox")
          .withExposedPorts(3000)
          .withEnv("SANDBOX_CLOCK", "2026-01-15T10:30:00Z")
          .waitingFor(Wait.forHttp("/_sandbox/health").forStatusCode(200));

  private final String key = "sk_test_" + UUID.randomUUID(); // a fresh world

  private HttpResponse<String> post(String path, String json) throws Exception {
    URI uri = URI.create("http://" + SANDBOX.getHost() + ":" + SANDBOX.getMappedPort(3000) + path);
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(uri)
                .POST(HttpRequest.BodyPublishers.ofString(json))
                .header("Authorization", "Bearer " + key)
                .header("Content-Type", "application/json")
                .build(),
            HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void aPayoutSettlesWhenTheClockSaysSo() throws Exception {
    String order =
        """
        {"client_ref_id": "order-1", "beneficiary_name": "Asha Rao", "beneficiary_account": "000123456789",
         "beneficiary_ifsc": "SBIN0000001", "amount": 1500.50, "transfer_mode": "IMPS"}""";
    assertEquals(200, post("/payout/initiate", order).statusCode());
    assertTrue(post("/_sandbox/clock/advance", "{\"by\":\"2s\"}").body().contains("\"to\":\"SUCCESS\""));
  }
}
