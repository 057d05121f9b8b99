"""A tool: puts CSV files of one folder into one spreadsheet."""

import csv
import glob
import os
import sys
import zipfile
from xml.sax.saxutils import escape

PARTS = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/xl/workbook.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
    '<Override PartName="/xl/worksheets/sheet1.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>',
    "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Target="xl/workbook.xml" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"/></Relationships>',
    "xl/workbook.xml": '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">'
    '<sheets><sheet name="prices" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Target="worksheets/sheet1.xml" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"/></Relationships>',
}


def cell(text):
    return f'<c t="inlineStr"><is><t>{escape(text)}</t></is></c>'


rows = [["page", "name", "price"]]
for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.csv"))):
    with open(path, newline="", encoding="utf-8") as file:
        rows.extend(csv.reader(file))
data = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
sheet = f'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{data}</sheetData></worksheet>'
with zipfile.ZipFile(sys.argv[2], "w") as book:
    for name, content in {**PARTS, "xl/worksheets/sheet1.xml": sheet}.items():
        book.writestr(name, '<?xml version="1.0" encoding="UTF-8"?>' + content)
