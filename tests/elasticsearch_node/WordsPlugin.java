package winnow;

import java.io.Reader;
import java.util.Map;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.charfilter.MappingCharFilter;
import org.apache.lucene.analysis.charfilter.NormalizeCharMap;
import org.apache.lucene.analysis.miscellaneous.ASCIIFoldingFilter;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.analysis.CharFilterFactory;
import org.elasticsearch.index.analysis.TokenFilterFactory;
import org.elasticsearch.indices.analysis.AnalysisModule.AnalysisProvider;
import org.elasticsearch.plugins.AnalysisPlugin;
import org.elasticsearch.plugins.Plugin;

/** The two parts of analysis-common that the analyzer of a store uses, made from the classes of Lucene. */
public class WordsPlugin extends Plugin implements AnalysisPlugin {
    @Override
    public Map<String, AnalysisProvider<CharFilterFactory>> getCharFilters() {
        return Map.of("mapping", (index, environment, name, settings) -> new Mapping(name, characters(settings)));
    }

    @Override
    public Map<String, AnalysisProvider<TokenFilterFactory>> getTokenFilters() {
        return Map.of("asciifolding", (index, environment, name, settings) -> new Folding(name));
    }

    private static NormalizeCharMap characters(Settings settings) {
        NormalizeCharMap.Builder map = new NormalizeCharMap.Builder();
        for (String rule : settings.getAsList("mappings")) {
            int arrow = rule.indexOf("=>");
            map.add(unescaped(rule.substring(0, arrow)), unescaped(rule.substring(arrow + 2)));
        }
        return map.build();
    }

    /** Return the characters of a side of a rule, which are written as \\uXXXX. */
    private static String unescaped(String side) {
        StringBuilder characters = new StringBuilder();
        String codes = side.strip();
        for (int at = 0; at < codes.length(); at += 6) {
            characters.append((char) Integer.parseInt(codes.substring(at + 2, at + 6), 16));
        }
        return characters.toString();
    }

    private record Mapping(String name, NormalizeCharMap characters) implements CharFilterFactory {
        @Override
        public Reader create(Reader text) {
            return new MappingCharFilter(characters, text);
        }
    }

    private record Folding(String name) implements TokenFilterFactory {
        @Override
        public TokenStream create(TokenStream words) {
            return new ASCIIFoldingFilter(words);
        }
    }
}
