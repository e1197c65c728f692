"""robots.txt is read as RFC 9309 says, with the examples that it gives."""

from __future__ import annotations

import pytest

from hiersum.building.crawl.robots import FORBID_ALL, Robots

AGENT = "ExampleBot/1.0 (+https://example.org)"


@pytest.mark.parametrize(
    ("rules", "path", "allowed"),
    [
        ("Disallow: /private", "/private/x", False),
        ("Disallow: /private", "/public", True),
        ("Disallow:", "/anything", True),
        ("Disallow: /", "/robots.txt", True),
        # The longest match decides, whatever the order; of equals the one that allows.
        ("Allow: /example/page/\nDisallow: /example/page/disallowed.gif",
         "/example/page/disallowed.gif", False),
        ("Disallow: /a\nAllow: /a/b", "/a/b/c", True),
        ("Allow: /page\nDisallow: /page", "/page", True),
        # * is anything, $ is the end.
        ("Disallow: /*.gif$", "/a/b.gif", False),
        ("Disallow: /*.gif$", "/a/b.gif?x", True),
        ("Disallow: /this/path/exactly$", "/this/path/exactly/not", True),
        ("Disallow: /*/private/*/x", "/u/private/9/x/y", False),
        ("Disallow: /*/private/*/x", "/u/private/x", True),
        ("Disallow: *$", "/a", False),
        # Written differently, the same path.
        ("Disallow: /foo/bar?baz=http://foo.bar", "/foo/bar?baz=http://foo.bar", False),
        ("Disallow: /caf%C3%A9", "/café", False),
        ("Disallow: /%62%61r", "/bar", False),
    ],
)  # fmt: skip
def test_rules(rules: str, path: str, allowed: bool) -> None:
    robots = Robots(f"User-agent: *\n{rules}\n", AGENT)
    assert robots.allows(f"https://a.example{path}") is allowed


def test_the_group_that_names_us_counts_and_groups_of_one_name_are_one() -> None:
    text = """
    # a comment
    User-agent: *
    Disallow: /
    Crawl-delay: 9

    User-Agent: otherbot
    User-agent: ExampleBot
    Disallow: /a   # here
    Sitemap: https://a.example/map
    user-agent: examplebot
    disallow: /b
    crawl-delay: 2.5
    """
    ours, others = Robots(text, AGENT), Robots(text, "Else/2")
    assert [ours.allows(f"http://a.example/{path}") for path in "abc"] == [False, False, True]
    assert ours.delay == 2.5
    assert not others.allows("http://a.example/c")
    assert others.delay == 9
    assert Robots(text, "otherbot").allows("http://a.example/b")


@pytest.mark.parametrize(
    "text", ["", "<html>Not found</html>", "Disallow: /", "\x00\xff", "Crawl-delay: x"]
)
def test_what_says_nothing_allows_all(text: str) -> None:
    robots = Robots(text, AGENT)
    assert robots.allows("http://a.example/x")
    assert robots.delay == 0


def test_a_host_in_trouble_is_left_alone() -> None:
    assert not Robots(FORBID_ALL, AGENT).allows("http://a.example/x")


def test_rules_made_to_hang_a_matcher_do_not() -> None:
    robots = Robots("User-agent: *\nDisallow: /" + "*a" * 500 + "$", AGENT)
    assert robots.allows("http://a.example/" + "a" * 5_000 + "b")


@pytest.mark.parametrize(("asked", "delay"), [("1e300", 1e6), ("inf", 0), ("-1", 0), ("nan", 0)])
def test_robots_delay_is_bounded(asked: str, delay: float) -> None:
    """A wait of any length would raise in the thread that waits."""
    assert Robots(f"User-agent: *\nCrawl-delay: {asked}", AGENT).delay == delay
