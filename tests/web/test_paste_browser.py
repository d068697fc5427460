"""The paste screen in a browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from opensearch_winnow.web.form import MAX_BODY_BYTES
from tests.web.browser_fixture import NewPage, Witness, accessibility_faults, scrolls_sideways
from tests.web.known_crawl_fixture import HARBOUR_TEXT, MILL_TEXT, paragraph
from tests.web.served_fixture import Served

pytestmark = [pytest.mark.check, pytest.mark.xdist_group(__name__)]
OWN = paragraph("nobody else has written this")
TEXT = f"{MILL_TEXT[1]}\n\n{OWN}\n\n{' '.join(HARBOUR_TEXT[1].split()[:40])}"  # of two sources


def test_paste_look_compare_and_load_again(page: Page, served: Served) -> None:
    page.goto(served.url("/"))
    page.get_by_role("link", name="Check a text").click()
    page.get_by_label("Text").fill("One, two")
    expect(page.locator("[data-count]")).to_have_text("2 words, 6 letters and digits. ")
    page.get_by_role("button", name="Find pages").click()
    expect(page.locator("h1")).to_have_text(re.compile("it has 6 letters and digits"))
    expect(page.get_by_label("Text")).to_have_value("One, two")
    page.get_by_label("Text").fill(TEXT)
    page.get_by_role("button", name="Find pages").click()
    expect(page.locator("h1")).to_have_text(re.compile(r"^\d+ % of your text is original$"))
    heading = page.locator("h1").inner_text()
    page.reload()
    expect(page.locator("h1")).to_have_text(heading)
    page.keyboard.press("n")
    page.keyboard.press("n")
    expect(page.locator("[role=status]", has_text="Segment")).to_have_text("Segment 2 of 2")
    expect(page.locator("mark.on")).to_be_in_viewport()
    expect(page.locator(".sources .on .badge")).to_have_text("2")
    page.locator("mark.p1").click()
    expect(page.locator("mark.on")).to_have_attribute("data-passages", "1")
    expect(page.locator("#s1.on")).to_be_in_viewport()
    page.locator("#s2 .badge").click()
    expect(page.locator("mark.p2.on")).to_be_in_viewport()
    expect(page).to_have_url(re.compile("#p2$"))
    page.locator(".sources .on").evaluate("each => each.classList.remove('on')")
    page.keyboard.press("j")
    page.keyboard.press("c")
    expect(page).to_have_url(re.compile(r"/compare/pasted-[0-9a-f]{32}/[0-9a-f]{32}$"))
    expect(page.locator("h1")).to_have_text(re.compile("shared passage"))
    page.get_by_role("link", name="Your text").click()
    expect(page.locator("h1")).to_have_text(heading)


def test_a_file_without_scripts(new_page: NewPage, served_file: Served) -> None:
    page = new_page(java_script_enabled=False)
    page.goto(served_file.url("/paste"))
    page.get_by_label("choose a file").set_input_files(
        {"name": "quote.html", "mimeType": "text/html", "buffer": f"<p>{TEXT}<script>alert(1)</script>".encode()}
    )
    page.get_by_role("button", name="Find pages").click()
    expect(page.locator("h1")).to_have_text(re.compile("of your text is original"))
    page.locator("#s2 .badge").click()
    expect(page).to_have_url(re.compile("#p2$"))
    expect(page.locator("#p2")).to_be_in_viewport()
    page.locator("#p1").click()
    expect(page).to_have_url(re.compile("#s1$"))
    expect(page.locator("#s1")).to_be_in_viewport()


DROP = """(form, [type, text]) => {
  const data = new DataTransfer();
  if (text) data.items.add(new File([text], "my quote.txt", { type: "text/plain" }));
  const how = { dataTransfer: data, bubbles: true, cancelable: true };
  form.querySelector("textarea").dispatchEvent(new DragEvent(type, how));
}"""


def test_a_file_is_dropped_on_the_form(page: Page, served_file: Served) -> None:
    page.goto(served_file.url("/paste"))
    form = page.locator("form.paste")
    form.evaluate(DROP, ["dragenter", TEXT])
    expect(form).to_have_class(re.compile("dropping"))
    form.evaluate(DROP, ["dragleave", TEXT])
    expect(form).not_to_have_class(re.compile("dropping"))
    form.evaluate(DROP, ["dragenter", TEXT])
    form.evaluate(DROP, ["drop", TEXT])
    expect(form).not_to_have_class(re.compile("dropping"))
    kilobytes = f"{len(TEXT.encode()) / 1000:.1f}".removesuffix(".0")
    expect(page.locator("[data-chosen]")).to_contain_text(f"my quote.txt, {kilobytes} kB")
    page.get_by_role("button", name="Remove file").click()
    expect(page.locator("[data-chosen]")).to_be_empty()
    form.evaluate(DROP, ["drop", TEXT])
    page.get_by_role("button", name="Find pages").click()
    expect(page.locator("h1")).to_have_text(re.compile("of your text is original"))
    expect(page.locator("main")).to_contain_text("my quote.txt")


@pytest.mark.parametrize("text", [TEXT, "too short", "nothing like it " * 20], ids=["found", "short", "nothing"])
def test_it_is_for_everybody(page: Page, served_file: Served, text: str) -> None:
    page.goto(served_file.url("/paste"))
    page.get_by_label("Text").fill(text)
    page.get_by_role("button", name="Find pages").click()
    expect(page).to_have_url(re.compile("/paste/pasted-"))
    assert accessibility_faults(page) == []
    page.emulate_media(color_scheme="dark")
    assert accessibility_faults(page) == []
    page.set_viewport_size({"width": 320, "height": 640})
    assert not scrolls_sideways(page)


def test_a_file_that_is_too_large_is_refused_in_words(
    page: Page, served_file: Served, witness: Witness, tmp_path: Path
) -> None:
    """A browser that is still sending would show an error of its own if the connection were closed."""
    witness.allowed.append("413")
    large = tmp_path / "large.txt"
    large.write_bytes(b"All work and no play. " * (2 * MAX_BODY_BYTES // 22))
    page.goto(served_file.url("/paste"))
    page.locator("input[type=file]").set_input_files(large)
    page.get_by_role("button", name="Find pages").click()
    expect(page.locator("h1")).to_have_text("Too large")
    expect(page.locator("main p")).to_contain_text("At most 16 MB can be sent at once")
    assert accessibility_faults(page) == []


def test_a_text_that_is_refused_stays_in_its_form(page: Page, served_file: Served, witness: Witness) -> None:
    witness.allowed.append("400")
    page.goto(served_file.url("/paste"))
    page.locator("textarea").fill("<html><title>nothing</title>")
    page.get_by_role("button", name="Find pages").click()
    expect(page.get_by_role("alert")).to_contain_text("no words to look for")
    expect(page.locator("textarea")).to_have_value("<html><title>nothing</title>")
    assert accessibility_faults(page) == []
