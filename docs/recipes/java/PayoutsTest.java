import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class PayoutsTest {
  // JUnit creates a new object for each test, and so a new key: nothing to clean up
  private final SandboxWorld world = new SandboxWorld();
  private final PayoutClient client = new PayoutClient(world);

  @AfterEach
  void judge() throws Exception {
    world.expectGoodConduct("""
        {"intent": {"client_ref_id": "^(order-[0-9]+)"}}""");
  }

  @Test
  @DisplayName("a payout is made once, although the first response never came")
  void lostResponse() throws Exception {
    world.rule("""
        {"name": "lost-response", "match": {"route": "initiate", "attempt": 1}, "effect": {"commit": true, "fault": "hang"}}""");
    assertEquals(200, client.pay("order-1", 1500.50).statusCode());
    assertEquals(998_499.50, world.balance());
    world.verify("""
        {"sequence": [{"fault": "hang", "committed": true}, {"status": 200, "replayed": true}]}""");
  }

  @Test
  @DisplayName("a payout is asked for when the service answers nothing but errors")
  void onlyErrors() throws Exception {
    world.rule("""
        {"match": {"route": "initiate"}, "effect": {"commit": true, "respond": {"status": 500}}}""");
    assertTrue(client.pay("order-1", 1500.50).body().contains("\"status\":\"PENDING\""));
    assertEquals(998_499.50, world.balance());
  }

  @Test
  @DisplayName("a payout settles when the clock says so")
  void settlement() throws Exception {
    world.freeze();
    client.pay("order-1", 1500.50);
    world.advance("1s");
    assertEquals("PENDING", client.status("order-1"));
    assertTrue(world.advance("1s").contains("\"to\":\"SUCCESS\""));
    assertEquals("SUCCESS", client.status("order-1"));
  }

  @Test
  @DisplayName("a refusal is not sent again")
  void refusal() throws Exception {
    world.rule("""
        {"match": {"route": "initiate"}, "times": 1, "effect": {"respond": {"status": 402}}}""");
    assertEquals(402, client.pay("order-1", 1500.50).statusCode());
    world.verify("""
        {"match": {"route": "initiate"}, "count": {"exactly": 1}}""");
    assertEquals(1_000_000, world.balance());
  }
}
